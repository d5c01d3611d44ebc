import { join } from 'node:path'
import { JsonNumber } from '../wire/json/number.ts'
import type { Logger } from '../log.ts'
import { isMissing } from '../error-code.ts'
import { readSettings } from './config-file.ts'
import { typedValue } from './environment.ts'
import type { Environment, Paths } from './paths.ts'
import { readMapping, type Mapping } from './yaml-file.ts'

/** The variable with this server's secret. Extensions and providers never get it (G32). */
export const serverSecretVariable = 'GOOSE_SERVER__SECRET_KEY'

/** Looks up settings and secrets (GA 1.4): first in the environment, then in the file. Nothing is cached. */
export class Settings {
  readonly paths: Paths
  readonly #env: Environment
  readonly #logger: Logger | undefined

  constructor(paths: Paths, env: Environment, logger?: Logger) {
    this.paths = paths
    this.#env = env
    this.#logger = logger
  }

  /** A setting; undefined if it is not set. */
  get(key: string): unknown {
    return this.fromEnvironment(key) ?? own(this.#inFile(), key)
  }

  /** The settings in the file. Empty if the file cannot be read (G13). */
  #inFile(): Mapping {
    try {
      return readSettings(this.paths.config, this.#logger)
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

  /** A secret. Secrets are stored separately from the settings. */
  secret(key: string): unknown {
    if (key.toUpperCase() === serverSecretVariable) return undefined
    return this.fromEnvironment(key) ?? own(this.#secrets(), key)
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

  #secrets(): Mapping {
    try {
      return readMapping(join(this.paths.config, 'secrets.yaml'))
    } catch (error) {
      if (isMissing(error)) return {}
      throw error
    }
  }
}

function own(mapping: Mapping, key: string): unknown {
  return Object.hasOwn(mapping, key) ? mapping[key] : undefined
}
