import { Turns } from '../../turns.ts'
import { parseDocumentInSlices } from '../../wire/json/document.ts'
import { isObject } from '../../wire/json/is-object.ts'
import { stringifyUpTo } from '../../wire/json/stringify.ts'
import { LateError } from './bus.ts'
import { PromptHistory, SecretService, isSessionLost } from './secret-service.ts'

/** The most bytes of the item (G54). */
const maxItem = 2 * 1024 * 1024

type Mapping = Record<string, unknown>

/** All secrets, in one item of the operating system's keyring (G54). */
export class Keyring {
  readonly #address: string
  readonly #environment: NodeJS.ProcessEnv
  readonly #prompts = new PromptHistory()
  readonly #stop: AbortSignal
  #service: SecretService | undefined
  /** Each access is one step (G42), and there is one prompt at a time (G56). */
  readonly #turns = new Turns()

  /** Aborting the signal ends the connection. */
  constructor(address: string, environment: NodeJS.ProcessEnv, stop: AbortSignal) {
    this.#address = address
    this.#environment = environment
    this.#stop = stop
    stop.addEventListener('abort', () => this.#service?.close(stop.reason as Error)) // the reason of an abort is always an Error
  }

  /** Connects. Rejects with the reason why it cannot. */
  async reach(): Promise<void> {
    await this.#turns.run(() => this.#connected())
  }

  /** The secrets. Rejects if they cannot be read. */
  async read(): Promise<Mapping> {
    return this.#access(async (service) => secretsOf(service, await service.find()))
  }

  /** Changes the secrets, in one step. Writes nothing if `change` returns undefined. */
  async change(change: (before: Mapping) => Mapping | undefined): Promise<void> {
    return this.#access(async (service) => {
      const item = await service.find()
      const after = change(await secretsOf(service, item))
      if (after === undefined) return
      const text = stringifyUpTo(after, maxItem)
      if (text === undefined) throw new RangeError(`the secrets would have more than ${maxItem} bytes`)
      if (item === undefined) await service.create(Buffer.from(text))
      else await service.write(item, Buffer.from(text))
    })
  }

  /** If the service is silent, all accesses that wait fail as well: each of them would take as long. */
  async #access<T>(use: (service: SecretService) => Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      try {
        return await this.#use(use)
      } catch (error) {
        if (error instanceof LateError) this.#turns.failWaiting(error)
        throw error
      }
    })
  }

  /** Does it again if the service was restarted, which ends the session. */
  async #use<T>(use: (service: SecretService) => Promise<T>): Promise<T> {
    const service = await this.#connected()
    try {
      return await use(service)
    } catch (error) {
      if (!isSessionLost(error)) throw error
      service.close(error)
      return use(await this.#connected())
    }
  }

  /** Connects again if the connection has ended. */
  async #connected(): Promise<SecretService> {
    if (this.#service?.isClosed === false) return this.#service
    this.#stop.throwIfAborted()
    return (this.#service = await SecretService.connect(this.#address, this.#environment, this.#prompts, this.#stop))
  }
}

async function secretsOf(service: SecretService, item: string | undefined): Promise<Mapping> {
  if (item === undefined) return {}
  const bytes = await service.read(item)
  if (bytes.length > maxItem) throw new RangeError(`the item has more than ${maxItem} bytes`)
  if (bytes.length === 0) return {}
  const { value } = await parseDocumentInSlices(bytes)
  if (!isObject(value)) throw new Error('the item is not a JSON object')
  return value
}
