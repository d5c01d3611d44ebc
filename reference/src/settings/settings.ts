import { join } from 'node:path'
import type { Logger } from '../log.ts'
import { ConfigStore, isMissing } from './config-store.ts'
import { typedValue } from './environment.ts'
import type { Environment, Paths } from './paths.ts'
import { readMapping, renderMapping, replaceFile } from './yaml-file.ts'
import type { Mapping } from './yaml-file.ts'

/** The variable with this server's secret. Extensions and providers never get it (G32). */
export const serverSecretVariable = 'GOOSE_SERVER__SECRET_KEY'

/** Looks up settings and secrets (GA 1.4): first in the environment, then in the file. Nothing is cached. */
export class Settings {
  readonly paths: Paths
  readonly file: ConfigStore
  readonly #env: Environment

  constructor(paths: Paths, env: Environment, logger?: Logger) {
    this.paths = paths
    this.file = new ConfigStore(paths.config, logger)
    this.#env = env
  }

  /** A setting; undefined if it is not set. */
  get(key: string): unknown {
    return this.fromEnvironment(key) ?? own(this.#inFile(), key)
  }

  /** The settings in the file. Empty if the file cannot be read (G13). */
  #inFile(): Mapping {
    try {
      return this.file.load()
    } catch {
      return {}
    }
  }

  /** A setting that must be a text; undefined if it is missing or anything else. */
  text(key: string): string | undefined {
    const value = this.get(key)
    return typeof value === 'string' ? value : undefined
  }

  /** A secret. Secrets are stored separately from the settings. */
  secret(key: string): unknown {
    if (key.toUpperCase() === serverSecretVariable) return undefined
    return this.fromEnvironment(key) ?? own(this.#secrets(), key)
  }

  /** Stores a secret; undefined removes it. */
  setSecret(key: string, value: unknown): void {
    const entries = Object.entries(this.#secrets()).filter(([name]) => name !== key)
    if (value !== undefined) entries.push([key, value])
    replaceFile(this.#secretsPath, `${this.#secretsPath}.tmp`, renderMapping(Object.fromEntries(entries)))
  }

  /** The typed value of the variable that overrides a key. */
  fromEnvironment(key: string): unknown {
    const text = this.variable(key.toUpperCase())
    return text === undefined ? undefined : typedValue(text)
  }

  /** The text of a variable, for settings that only the environment can set (GA 1.2). An empty variable counts as set. */
  variable(name: string): string | undefined {
    return this.#env[name]
  }

  get #secretsPath(): string {
    return join(this.paths.config, 'secrets.yaml')
  }

  #secrets(): Mapping {
    try {
      return readMapping(this.#secretsPath)
    } catch (error) {
      if (isMissing(error)) return {}
      throw error
    }
  }
}

function own(mapping: Mapping, key: string): unknown {
  return Object.hasOwn(mapping, key) ? mapping[key] : undefined
}
