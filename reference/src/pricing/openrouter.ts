import { member } from '../llm/model-protocol.ts'
import { integer, readShape } from '../wire/json/shape.ts'
import { TimeSlices } from '../wire/json/time-slices.ts'
import { priceList, type Price, type PriceKey, type PriceList } from './price-list.ts'

/*
 * The list of models of OpenRouter, as far as it has prices (G68).
 */

/** How many items are read between two checks of the time slice. */
const itemsAtOnce = 1000

/** The prices of the items that have one. */
export async function pricesIn(items: readonly unknown[]): Promise<PriceList> {
  const slices = new TimeSlices()
  const found: (PriceKey & { price: Price })[] = []
  for (const [index, item] of items.entries()) {
    const id = member(item, 'id')
    const [key, price] = [typeof id === 'string' ? keyOf(id) : undefined, priceOf(item)]
    if (key !== undefined && price !== undefined) found.push({ ...key, price })
    if (index % itemsAtOnce === 0) await slices.yieldIfDue()
  }
  return priceList(found)
}

/** The names that goose has for providers, where they differ. */
const gooseNames = new Map([['meta-llama', 'ollama'], ['mistralai', 'mistral'], ['microsoft', 'azure']])

/** The provider and the model in a name of OpenRouter; undefined if it has no provider. */
export function keyOf(id: string): PriceKey | undefined {
  const slash = id.indexOf('/')
  if (slash === -1) return undefined
  const provider = id.slice(0, slash)
  return { provider: (gooseNames.get(provider) ?? provider).toLowerCase(), model: id.slice(slash + 1) }
}

function priceOf(item: unknown): Price | undefined {
  const pricing = member(item, 'pricing')
  const [input, output] = [costOf(member(pricing, 'prompt')), costOf(member(pricing, 'completion'))]
  if (input === undefined || output === undefined) return undefined
  return { input_cost: input, output_cost: output, context_length: contextLengthOf(member(item, 'context_length')) }
}

/** Each text has one way to match at most: many digits before a letter would otherwise take hours. */
const decimal = /^\+?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

function costOf(text: unknown): number | undefined {
  if (typeof text !== 'string' || !decimal.test(text)) return undefined
  const cost = Number(text)
  return Number.isFinite(cost) ? cost : undefined
}

export const contextLength = integer(0, 2 ** 32 - 1)

function contextLengthOf(value: unknown): number | null {
  try {
    return value === undefined ? null : readShape(contextLength, value)
  } catch {
    return null // an unusable length is not worth losing the price
  }
}
