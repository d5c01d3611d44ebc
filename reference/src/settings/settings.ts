import { join } from 'node:path'
import type { Logger } from '../log.ts'
import { Turns } from '../turns.ts'
import { JsonNumber } from '../wire/json/number.ts'
import { changeSettings, configFile, readSettings } from './config-file.ts'
import { typedValue } from './environment.ts'
import type { Environment, Paths } from './paths.ts'
import { isOwnSecret } from './own-secrets.ts'
import { Secrets } from './secrets.ts'
import { MappingFile, type Mapping } from './yaml-file.ts'

/** Looks up settings and secrets (GA 1.4): first in the environment, then in the file or the keyring, which are read again each time. */
export class Settings {
  readonly paths: Paths
  /** The file with the permission levels of tools. */
  readonly permissions: MappingFile
  /** Changes of the definitions of providers, which change secrets too. */
  readonly definitionChanges = new Turns()
  readonly #config: MappingFile
  readonly #secrets: Secrets
  readonly #env: Environment
  readonly #logger: Logger | undefined

  constructor(paths: Paths, env: Environment, logger?: Logger) {
    this.paths = paths
    this.permissions = new MappingFile(join(paths.config, 'permission.yaml'))
    this.#config = new MappingFile(configFile(paths.config))
    this.#secrets = new Secrets(new MappingFile(join(paths.config, 'secrets.yaml')), env, logger)
    this.#env = env
    this.#logger = logger
  }

  /** Reads what takes long, so that the other methods block nothing. */
  async prepare(): Promise<void> {
    await Promise.all([this.#config.prepare(), this.permissions.prepare()])
  }

  /** A setting; undefined if it is not set. The settings in the file are empty if it cannot be read (G13). */
  get(key: string): unknown {
    return this.reader()(key)
  }

  /** A function that reads settings as `get` does. It reads the file once, however many settings it looks up. */
  reader(): (key: string) => unknown {
    let stored: Mapping | undefined
    return (key) => {
      const fixed = this.#fixed(key)
      return fixed === undefined ? memberOf((stored ??= this.#storedIfReadable()), key) : fixed.value
    }
  }

  #storedIfReadable(): Mapping {
    try {
      return this.stored()
    } catch {
      return {}
    }
  }

  /** A setting that must be a text; undefined if it is missing or anything else. */
  text(key: string): string | undefined {
    const value = this.get(key)
    return typeof value === 'string' ? value : undefined
  }

  /** A setting that must be a number from 0 to 1; undefined if it is missing or anything else. */
  fraction(key: string): number | undefined {
    const set = this.get(key)
    const value = typeof set === 'number' || set instanceof JsonNumber ? Number(set) : NaN
    return value >= 0 && value <= 1 ? value : undefined
  }

  /** A setting; undefined if it is not set. Throws if it is looked up in the file, and the file cannot be read. */
  read(key: string): unknown {
    const fixed = this.#fixed(key)
    return fixed === undefined ? memberOf(this.stored(), key) : fixed.value
  }

  /** The settings in the file. Throws if the file cannot be read. */
  stored(): Mapping {
    return readSettings(this.#config, this.#logger)
  }

  /** Changes the settings in the file. Throws if the file cannot be read or written. */
  change(change: (before: Mapping) => Mapping): void {
    changeSettings(this.#config, change, this.#logger)
  }

  /** A secret, which is stored separately from the settings. Rejects if it is looked up in the store, and that cannot be read. */
  async secret(key: string): Promise<unknown> {
    return this.secretReader()(key)
  }

  /** A function that reads secrets as `secret` does. It reads the store once, however many secrets it looks up. */
  secretReader(): (key: string) => Promise<unknown> {
    const find = this.#secrets.finder()
    return async (key) => {
      const fixed = this.#fixed(key)
      return fixed === undefined ? memberOf(await find(key), key) : fixed.value
    }
  }

  /** Whether the store has a secret, whatever the environment has. Rejects if it cannot be read. */
  async storesSecret(key: string): Promise<boolean> {
    return Object.hasOwn(await this.#secrets.finder()(key), key)
  }

  /** Stores a secret. Rejects if the secrets cannot be read or written. */
  async setSecret(key: string, value: unknown): Promise<void> {
    await this.#secrets.set(key, value)
  }

  /** Removes a secret, if there is one. Rejects like `setSecret`. */
  async removeSecret(key: string): Promise<void> {
    await this.#secrets.remove(key)
  }

  /** Ends the connection to the keyring, if there is one. */
  close(): void {
    this.#secrets.close()
  }

  /** The text of a variable, for settings that only the environment can set (GA 1.2). An empty variable counts as set. */
  variable(name: string): string | undefined {
    return /^[^=\0]+$/.test(name) ? this.#env[name] : undefined
  }

  /** The value that a key has, or has not, whatever is stored; undefined if that depends on what is stored. */
  #fixed(key: string): { value: unknown } | undefined {
    const name = key.toUpperCase()
    if (isOwnSecret(name)) return { value: undefined }
    const text = this.variable(name)
    return text === undefined ? undefined : { value: typedValue(text) }
  }
}

function memberOf(mapping: Mapping, key: string): unknown {
  return Object.hasOwn(mapping, key) ? mapping[key] : undefined
}
