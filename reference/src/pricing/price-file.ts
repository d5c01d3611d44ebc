import { errorCode, isMissing } from '../error-code.ts'
import type { Logger } from '../log.ts'
import { replaceLinkedFile } from '../settings/private-files.ts'
import { readRegularFile } from '../settings/regular-file.ts'
import { parseDocumentInSlices, type JsonDocument } from '../wire/json/document.ts'
import { JsonSyntaxError } from '../wire/json/parse.ts'
import { ShapeError, int64, jsonObject, map, nullable, number, object, readShape, type Int64, type Shape } from '../wire/json/shape.ts'
import { jsonBytes, sizeOf } from '../wire/json/stringify.ts'
import { contextLength } from './openrouter.ts'
import { priceList, type DatedPrices, type Price } from './price-list.ts'

/** The most bytes of the file, and of the names in the response with all its prices. */
const [maxFileBytes, maxNameBytes] = [16 * 1024 * 1024, 16 * 1024 * 1024]

interface Content {
  pricing: Record<string, Record<string, Price>>
  fetched_at: Int64
}

const price = object<Price>({ input_cost: number, output_cost: number, context_length: nullable(contextLength) })

function contentOf(document: JsonDocument): Content {
  const every = everyOf(document)
  const shape = object<Content>({ pricing: every(every(price)), fetched_at: int64 })
  // Only the log has the message, and it would take long to find positions in a large file.
  return readShape(shape, document.value, { isRepeated: document.isRepeated.bind(document) })
}

/** An object with any keys. Of a repeated key the last value counts, but each must have the shape. */
function everyOf(document: JsonDocument): <T>(shape: Shape<T>) => Shape<Record<string, T>> {
  return (shape) => (place) => {
    for (const value of document.replacedIn(jsonObject(place))) shape(place.with(value))
    return map(shape)(place)
  }
}

/** What a file has: prices, or why it has none. */
type Found = { prices: DatedPrices } | { why: string }

/** The file in which goose and this server keep prices (G69). Each of them may change it at any time. */
export class PriceFile {
  readonly #path: string
  readonly #logger: Logger
  /** What was read or written last. The same bytes are not parsed again. */
  #last: { bytes: Buffer; found: Promise<Found> } | undefined
  /** Why the file could not be read last time; undefined if it could, or there was none. */
  #why: string | undefined

  constructor(path: string, logger: Logger) {
    this.#path = path
    this.#logger = logger
  }

  /** The prices in the file, however old they are. Undefined if there is no file; also if it cannot be read, which is logged once. */
  async read(): Promise<DatedPrices | undefined> {
    const found = await this.#read()
    const why = found !== undefined && 'why' in found ? found.why : undefined
    if (why !== undefined && why !== this.#why) this.#logger.warn('prices not read', { file: this.#path, why })
    this.#why = why
    return found !== undefined && 'prices' in found ? found.prices : undefined
  }

  async #read(): Promise<Found | undefined> {
    try {
      const bytes = readRegularFile(this.#path, maxFileBytes)
      if (this.#last?.bytes.equals(bytes) !== true) this.#last = { bytes, found: pricesIn(bytes) }
    } catch (error) {
      this.#last = undefined
      return isMissing(error) ? undefined : { why: errorCode(error) ?? (error instanceof Error ? error.message : 'for an unknown reason') }
    }
    return this.#last.found
  }

  /** Replaces the file. A failure is logged. Rejects only with the reason of the signal, if it is aborted first. */
  async write(prices: DatedPrices, signal: AbortSignal): Promise<void> {
    const pricing = Object.fromEntries([...prices.list].map(([provider, models]) => [provider, Object.fromEntries(models)]))
    const pieces = await jsonBytes({ pricing, fetched_at: prices.fetchedAt } satisfies Content)
    signal.throwIfAborted()
    try {
      if (sizeOf(pieces) > maxFileBytes) throw new RangeError(`the file would have more than ${maxFileBytes} bytes`)
      const bytes = Buffer.concat(pieces)
      replaceLinkedFile(this.#path, bytes)
      this.#last = { bytes, found: Promise.resolve({ prices }) }
    } catch (err) {
      this.#logger.warn('prices not written', { file: this.#path, err })
    }
  }
}

async function pricesIn(bytes: Buffer): Promise<Found> {
  try {
    const { pricing, fetched_at: fetchedAt } = contentOf(await parseDocumentInSlices(bytes))
    if (nameBytes(pricing) > maxNameBytes) return { why: `the names of all prices have more than ${maxNameBytes} bytes` }
    const prices = Object.entries(pricing).flatMap(([provider, models]) =>
      Object.entries(models).map(([model, price]) => ({ provider, model, price })),
    )
    const list = priceList(prices.filter(({ price }) => !isNegative(price.input_cost) && !isNegative(price.output_cost)))
    return { prices: { list, fetchedAt: Number(fetchedAt) } }
  } catch (error) {
    if (error instanceof JsonSyntaxError) return { why: 'not JSON' }
    if (error instanceof ShapeError) return { why: error.message }
    throw error
  }
}

/** The bytes of all names of models, each with that of its provider: a short file can have a long one for many models. */
function nameBytes(pricing: Content['pricing']): number {
  let bytes = 0
  for (const [provider, models] of Object.entries(pricing)) {
    const names = Object.keys(models)
    bytes += names.length * Buffer.byteLength(provider) + names.reduce((sum, name) => sum + Buffer.byteLength(name), 0)
  }
  return bytes
}

/** Whether the number in the file began with a minus: -0 did too. */
function isNegative(cost: number): boolean {
  return cost < 0 || Object.is(cost, -0)
}
