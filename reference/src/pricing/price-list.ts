import { compareBytes } from '../text/compare-bytes.ts'

/** What a model costs in USD per token, with the names of the file (G69). */
export interface Price {
  input_cost: number
  output_cost: number
  context_length: number | null
}

/** The provider and the model of a price. */
export interface PriceKey {
  provider: string
  model: string
}

/** Prices by provider, then by model. Both are sorted by their bytes. */
export type PriceList = ReadonlyMap<string, ReadonlyMap<string, Price>>

/** Prices, and when they were fetched, in seconds since 1970. */
export interface DatedPrices {
  list: PriceList
  fetchedAt: number
}

export const noPrices: PriceList = new Map()

/** The list of these prices. Of several for the same model, the last one counts. */
export function priceList(prices: Iterable<PriceKey & { price: Price }>): PriceList {
  const list = new Map<string, Map<string, Price>>()
  for (const { provider, model, price } of prices) {
    const models = list.get(provider)
    if (models === undefined) list.set(provider, new Map([[model, price]]))
    else models.set(model, price)
  }
  return sorted([...list].map(([provider, models]) => [provider, sorted([...models])]))
}

function sorted<T>(entries: [key: string, value: T][]): Map<string, T> {
  return new Map(entries.sort(([a], [b]) => compareBytes(a, b)))
}
