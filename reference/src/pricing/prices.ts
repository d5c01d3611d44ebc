import { AsyncLocalStorage } from 'node:async_hooks'
import { join } from 'node:path'
import type { Logger } from '../log.ts'
import { cacheDirectory, type Environment } from '../settings/paths.ts'
import { within } from '../within.ts'
import { fetchPrices, listAddress } from './fetch-prices.ts'
import { PriceFile } from './price-file.ts'
import { noPrices, type DatedPrices, type PriceList } from './price-list.ts'

/** How long prices are used, and from which age on they are fetched again, in seconds. */
const [usedFor, freshFor] = [7 * 86_400, 86_400]
/** How long no fetch starts after one that failed, and how long a request waits for one. */
const [pauseMs, waitMs] = [60_000, 1000]

/** The prices of models: those of a file, and those that the server fetches when somebody asks for all (G69, G70). */
export class Prices {
  readonly #address: URL | undefined
  readonly #file: PriceFile | undefined
  readonly #logger: Logger
  readonly #now: () => number
  readonly #stop = new AbortController()
  /** The prices that were fetched last. They are known even if the file cannot be written. */
  #fetched: DatedPrices | undefined
  /** The fetch that runs. It never rejects. */
  #running: Promise<void> | undefined
  #failedAt: number | undefined
  /** Runs the fetch outside of the request that starts it, so that its lines of the log belong to none (T19). */
  readonly #outside = AsyncLocalStorage.snapshot()

  /** `now` is the time in milliseconds since 1970. */
  constructor(environment: Environment, logger: Logger, now = Date.now) {
    const directory = cacheDirectory(environment)
    this.#address = listAddress(environment)
    this.#file = directory === undefined ? undefined : new PriceFile(join(directory, 'pricing_cache.json'), logger)
    this.#logger = logger
    this.#now = now
    if (this.#address === undefined && environment.GOOSE_PRICING_URL !== 'none') {
      logger.warn('prices are never fetched', { why: 'GOOSE_PRICING_URL is neither none nor an http or https URL as in RFC 3986, without a user and a fragment' })
    }
  }

  /** The known prices. Fetches nothing. */
  async known(): Promise<PriceList> {
    return (await this.#inUse())?.list ?? noPrices
  }

  /** All prices. Fetches them if there are none, and waits for them a moment. Old ones are fetched again in the background. */
  async all(): Promise<PriceList> {
    const inUse = await this.#inUse()
    if (inUse === undefined || this.#age(inUse) >= freshFor) this.#startFetch()
    if (inUse !== undefined) return inUse.list
    if (this.#running === undefined) return noPrices
    await within(waitMs, this.#running)
    return this.known()
  }

  /** Ends the fetch that runs, without a result. */
  stop(): void {
    this.#stop.abort(new Error('the server stops'))
  }

  async #inUse(): Promise<DatedPrices | undefined> {
    const stored = this.#ifUsable(await this.#file?.read())
    const fetched = this.#ifUsable(this.#fetched)
    return stored !== undefined && (fetched === undefined || stored.fetchedAt >= fetched.fetchedAt) ? stored : fetched
  }

  #ifUsable(prices: DatedPrices | undefined): DatedPrices | undefined {
    if (prices === undefined) return undefined
    const age = this.#age(prices)
    return age >= 0 && age < usedFor ? prices : undefined
  }

  #age({ fetchedAt }: DatedPrices): number {
    return this.#now() / 1000 - fetchedAt
  }

  #startFetch(): void {
    const address = this.#address
    if (address === undefined || this.#running !== undefined || this.#isPause()) return
    this.#running = this.#outside(() => this.#fetch(address)).finally(() => (this.#running = undefined))
  }

  /** The clock may have been set back since the failure. */
  #isPause(): boolean {
    const since = this.#now() - (this.#failedAt ?? -Infinity)
    return since >= 0 && since < pauseMs
  }

  async #fetch(address: URL): Promise<void> {
    const { signal } = this.#stop
    try {
      const fetched = await fetchPrices(address, signal)
      signal.throwIfAborted()
      if ('why' in fetched) {
        this.#fail(fetched.why)
        return
      }
      const prices = { list: fetched.list, fetchedAt: Math.floor(this.#now() / 1000) }
      await this.#file?.write(prices, signal)
      this.#fetched = prices
    } catch (error) {
      if (!signal.aborted) this.#fail(error instanceof Error ? error.name : 'for an unknown reason') // a message might quote the response
    }
  }

  #fail(why: string): void {
    this.#failedAt = this.#now()
    this.#logger.warn('prices not fetched', { why })
  }
}
