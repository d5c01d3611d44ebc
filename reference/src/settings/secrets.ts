import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from '../log.ts'
import { withMember, withoutMember } from '../wire/json/ordered.ts'
import type { Keyring } from './keyring/keyring.ts'
import { withoutOwnSecrets } from './own-secrets.ts'
import type { Environment } from './paths.ts'
import type { Mapping, MappingFile } from './yaml-file.ts'

/** The variable that keeps the server away from the keyring. */
const disablingVariable = 'GOOSE_DISABLE_KEYRING'

/** The secrets, without those of the environment. They are in the keyring if there is one, otherwise in a file (G53, G55). */
export class Secrets {
  readonly #file: MappingFile
  readonly #env: Environment
  readonly #logger: Logger | undefined
  /** Undefined until the first access; then it stays. It resolves to undefined if secrets are in the file. */
  #keyring: Promise<Keyring | undefined> | undefined
  readonly #stop = new AbortController()
  /** Runs what is for all requests outside of the one that needs it first, so that its lines of the log belong to none (T19). */
  readonly #outside = AsyncLocalStorage.snapshot()

  constructor(file: MappingFile, env: Environment, logger: Logger | undefined) {
    this.#file = file
    this.#env = env
    this.#logger = logger
  }

  /**
   * A function that finds the mapping with a secret, if any has it. It reads each store at most once, when it needs it. It rejects
   * if the secrets cannot be read.
   */
  finder(): (key: string) => Promise<Mapping> {
    let inKeyring: Promise<Mapping> | undefined
    let inFile: Promise<Mapping> | undefined
    return async (key) => {
      const first = await (inKeyring ??= this.#inKeyring())
      return Object.hasOwn(first, key) ? first : (inFile ??= this.#inFile())
    }
  }

  async #inKeyring(): Promise<Mapping> {
    const keyring = await this.#chosen()
    return keyring === undefined ? {} : keyring.read()
  }

  async #inFile(): Promise<Mapping> {
    await this.#file.prepare()
    return this.#file.readIfAny()
  }

  /** Stores a secret. Rejects if the secrets cannot be read or written. */
  async set(key: string, value: unknown): Promise<void> {
    const keyring = await this.#chosen()
    await this.#file.prepare()
    if (keyring === undefined) {
      this.#changeFile((before) => withMember(before, key, value))
      return
    }
    await keyring.change((before) => withMember(before, key, value))
    try {
      this.#removeFromFile(key)
    } catch (err) {
      this.#logger?.warn('an old secret stays in the file', { file: this.#file.path, err })
    }
  }

  /** Removes a secret, if there is one. Rejects like `set`. */
  async remove(key: string): Promise<void> {
    const keyring = await this.#chosen()
    await this.#file.prepare()
    if (keyring === undefined) {
      this.#changeFile((before) => withoutMember(before, key))
      return
    }
    await keyring.change((before) => (Object.hasOwn(before, key) ? withoutMember(before, key) : undefined))
    this.#removeFromFile(key)
  }

  /** Ends the connection to the keyring. */
  close(): void {
    this.#stop.abort(new Error('the server stops'))
  }

  #removeFromFile(key: string): void {
    if (Object.hasOwn(this.#file.readIfAny(), key)) this.#changeFile((before) => withoutMember(before, key))
  }

  /** There are no backups of this file. */
  #changeFile(change: (before: Mapping) => Mapping): void {
    this.#file.replace(change(this.#file.readIfAny()))
  }

  async #chosen(): Promise<Keyring | undefined> {
    return (this.#keyring ??= this.#outside(() => this.#choose()))
  }

  async #choose(): Promise<Keyring | undefined> {
    try {
      const address = this.#addressOfBus()
      // Loading the library takes time, and many runs need no secret.
      const { Keyring: Store } = await import('./keyring/keyring.ts')
      const keyring = new Store(address, withoutOwnSecrets(this.#env), this.#stop.signal) // the program of a bus gets none of them
      await keyring.reach()
      this.#logger?.info('secrets are in the keyring')
      return keyring
    } catch (error) {
      this.#stop.signal.throwIfAborted()
      const why = error instanceof Error ? error.message : String(error)
      this.#logger?.info('secrets are in a file', { file: this.#file.path, why })
      return undefined
    }
  }

  /** Throws the reason why no keyring can be used. */
  #addressOfBus(): string {
    if (this.#env[disablingVariable] !== undefined) throw new Error(`${disablingVariable} is set`)
    if (process.platform !== 'linux') throw new Error('there is a keyring only on Linux')
    const { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: runtime } = this.#env
    if (address) return address
    if (runtime) return `unix:path=${encodeURIComponent(runtime)}/bus`
    throw new Error('neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set')
  }
}
