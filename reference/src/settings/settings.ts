import { join } from 'node:path'
import { JsonNumber } from '../wire/json/number.ts'
import type { Logger } from '../log.ts'
import { changeSettings, configFile, readSettings } from './config-file.ts'
import { typedValue } from './environment.ts'
import type { Environment, Paths } from './paths.ts'
import { MappingFile, renderMapping, type Mapping } from './yaml-file.ts'

/** The variable with this server's secret. No setting and no secret has its name (G32, G43). */
export const serverSecretVariable = 'GOOSE_SERVER__SECRET_KEY'

/** Looks up settings and secrets (GA 1.4): first in the environment, then in the file, which is read again each time. */
export class Settings {
  readonly paths: Paths
  /** The file with the permission levels of tools. */
  readonly permissions: MappingFile
  readonly #config: MappingFile
  readonly #secrets: MappingFile
  readonly #env: Environment
  readonly #logger: Logger | undefined

  constructor(paths: Paths, env: Environment, logger?: Logger) {
    this.paths = paths
    this.permissions = new MappingFile(join(paths.config, 'permission.yaml'))
    this.#config = new MappingFile(configFile(paths.config))
    this.#secrets = new MappingFile(join(paths.config, 'secrets.yaml'))
    this.#env = env
    this.#logger = logger
  }

  /** A setting; undefined if it is not set. The settings in the file are empty if it cannot be read (G13). */
  get(key: string): unknown {
    try {
      return this.read(key)
    } catch {
      return undefined
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
    return this.#lookUp(key, () => this.stored())
  }

  /** The settings in the file. Throws if the file cannot be read. */
  stored(): Mapping {
    return readSettings(this.#config, this.#logger)
  }

  /** Changes the settings in the file. Throws if the file cannot be read or written. */
  change(change: (before: Mapping) => Mapping): void {
    changeSettings(this.#config, change, this.#logger)
  }

  /** A secret, which is stored separately from the settings. Throws like `read`. */
  secret(key: string): unknown {
    return this.#lookUp(key, () => this.#secrets.readIfAny())
  }

  /** Changes the secrets in their file, of which there are no backups. Throws if the file cannot be read or written. */
  changeSecrets(change: (before: Mapping) => Mapping): void {
    this.#secrets.write(renderMapping(change(this.#secrets.readIfAny())))
  }

  /** The text of a variable, for settings that only the environment can set (GA 1.2). An empty variable counts as set. */
  variable(name: string): string | undefined {
    return /^[^=\0]+$/.test(name) ? this.#env[name] : undefined
  }

  #lookUp(key: string, stored: () => Mapping): unknown {
    const name = key.toUpperCase()
    if (name === serverSecretVariable) return undefined
    const text = this.variable(name)
    if (text !== undefined) return typedValue(text)
    const mapping = stored()
    return Object.hasOwn(mapping, key) ? mapping[key] : undefined
  }
}
