import { readRegularFile } from '../settings/regular-file.ts'
import { replaceLinkedFile } from '../settings/private-files.ts'
import { parseDocumentInSlices } from '../wire/json/document.ts'
import { JsonSyntaxError } from '../wire/json/parse.ts'
import { ShapeError, int64, map, nullable, number, object, readShape, type Int64 } from '../wire/json/shape.ts'
import { jsonBytes, sizeOf } from '../wire/json/stringify.ts'
import { contextLength } from './openrouter.ts'
import { priceList, type DatedPrices, type Price } from './price-list.ts'

/** The most bytes of the file. */
const maxFileBytes = 16 * 1024 * 1024

interface Content {
  pricing: Record<string, Record<string, Price>>
  fetched_at: Int64
}

const content = object<Content>({
  pricing: map(map(object<Price>({ input_cost: number, output_cost: number, context_length: nullable(contextLength) }))),
  fetched_at: int64,
})

/** The file in which goose and this server keep prices (G69). Each of them may change it at any time. */
export class PriceFile {
  readonly path: string
  /** What was read or written last. The same bytes are not parsed again. */
  #last: { bytes: Buffer; prices: Promise<DatedPrices | undefined> } | undefined

  constructor(path: string) {
    this.path = path
  }

  /** The prices in the file, however old they are. Undefined if it cannot be read, or has another form. */
  async read(): Promise<DatedPrices | undefined> {
    let bytes: Buffer
    try {
      bytes = readRegularFile(this.path, maxFileBytes)
    } catch {
      this.#last = undefined
      return undefined
    }
    if (this.#last?.bytes.equals(bytes) !== true) this.#last = { bytes, prices: parsed(bytes) }
    return this.#last.prices
  }

  /** Replaces the file. Rejects if it cannot be written, would be too large, or the signal is aborted first. */
  async write(prices: DatedPrices, signal: AbortSignal): Promise<void> {
    const pricing = Object.fromEntries([...prices.list].map(([provider, models]) => [provider, Object.fromEntries(models)]))
    const pieces = await jsonBytes({ pricing, fetched_at: prices.fetchedAt } satisfies Content)
    signal.throwIfAborted()
    if (sizeOf(pieces) > maxFileBytes) throw new RangeError(`the file would have more than ${maxFileBytes} bytes`)
    const bytes = Buffer.concat(pieces)
    replaceLinkedFile(this.path, bytes)
    this.#last = { bytes, prices: Promise.resolve(prices) }
  }
}

async function parsed(bytes: Buffer): Promise<DatedPrices | undefined> {
  try {
    const document = await parseDocumentInSlices(bytes)
    // Nobody sees the messages, so positions, which are slow to find, are not needed.
    const source = { isRepeated: document.isRepeated.bind(document), endOf: () => '' }
    const { pricing, fetched_at: fetchedAt } = readShape(content, document.value, source)
    const prices = Object.entries(pricing).flatMap(([provider, models]) =>
      Object.entries(models).map(([model, price]) => ({ provider, model, price })),
    )
    return { list: priceList(prices.filter(({ price }) => !isNegative(price.input_cost) && !isNegative(price.output_cost))), fetchedAt: Number(fetchedAt) }
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof ShapeError) return undefined
    throw error
  }
}

/** Whether the number in the file began with a minus: -0 did too. */
function isNegative(cost: number): boolean {
  return cost < 0 || Object.is(cost, -0)
}
