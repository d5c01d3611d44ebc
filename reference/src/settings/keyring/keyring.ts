import { OneAtATime } from '../../one-at-a-time.ts'
import { isObject } from '../../wire/json/is-object.ts'
import { parseDocumentInSlices } from '../../wire/json/document.ts'
import { stringifyUpTo } from '../../wire/json/stringify.ts'
import { PromptHistory, SecretService } from './secret-service.ts'

/** The most bytes of the item (G54). */
const maxItem = 2 * 1024 * 1024

type Mapping = Record<string, unknown>

/** All secrets, in one item of the operating system's keyring (G54). */
export class Keyring {
  readonly #address: string
  readonly #environment: NodeJS.ProcessEnv
  readonly #prompts = new PromptHistory()
  readonly #stop: AbortSignal
  #service: Promise<SecretService> | undefined
  readonly #changes = new OneAtATime()

  /** Aborting the signal ends the connection. */
  constructor(address: string, environment: NodeJS.ProcessEnv, stop: AbortSignal) {
    this.#address = address
    this.#environment = environment
    this.#stop = stop
    stop.addEventListener('abort', () => {
      this.#service?.then((service) => { service.close(stop.reason as Error) }, () => undefined)
    })
  }

  /** Connects, unless it is connected. Rejects with the reason why it cannot. */
  async reach(): Promise<SecretService> {
    const current = this.#service
    const open = await current?.catch(() => undefined)
    if (open?.isClosed === false) return open
    this.#stop.throwIfAborted()
    // Of several accesses that find a broken connection, the first one replaces it.
    if (this.#service !== undefined && this.#service !== current) return this.#service
    return (this.#service = SecretService.connect(this.#address, this.#environment, this.#prompts, this.#stop))
  }

  /** The secrets. Rejects if they cannot be read. */
  async read(): Promise<Mapping> {
    const service = await this.reach()
    return secretsOf(service, await service.find())
  }

  /** Changes the secrets, in one step (G42). Writes nothing if `change` returns undefined. */
  async change(change: (before: Mapping) => Mapping | undefined): Promise<void> {
    return this.#changes.run(() => this.#changeNow(change))
  }

  async #changeNow(change: (before: Mapping) => Mapping | undefined): Promise<void> {
    const service = await this.reach()
    const item = await service.find()
    const after = change(await secretsOf(service, item))
    if (after === undefined) return
    const text = stringifyUpTo(after, maxItem)
    if (text === undefined) throw new RangeError(`the secrets would have more than ${maxItem} bytes`)
    if (item === undefined) await service.create(Buffer.from(text))
    else await service.write(item, Buffer.from(text))
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
