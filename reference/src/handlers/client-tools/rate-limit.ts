/** How many calls a client may have in a window; 0 calls: no limit (CT 9.3). */
export interface RateLimitOptions {
  calls: number
  windowMs: number
}

export const defaultRateLimit: RateLimitOptions = { calls: 100, windowMs: 60_000 }

/** The most windows that are kept. Clients may choose new IDs for ever. */
const maxWindows = 20_000

/** Counts the calls of each client in fixed windows (CT 10.3, S69). */
export class RateLimit {
  readonly #options: RateLimitOptions
  /** By client, in the order in which they began. */
  readonly #windows = new Map<string, { since: number; calls: number }>()

  constructor(options: RateLimitOptions = defaultRateLimit) {
    this.#options = options
  }

  /** Counts a call, if its client may have one more. */
  take(clientID: string): boolean {
    const { calls, windowMs } = this.#options
    if (calls === 0) return true
    const now = performance.now()
    const window = this.#windows.get(clientID)
    if (window !== undefined && now - window.since < windowMs) {
      if (window.calls >= calls) return false
      window.calls++
      return true
    }
    this.#windows.delete(clientID)
    this.#windows.set(clientID, { since: now, calls: 1 })
    this.#forget(now - windowMs)
    return true
  }

  /** Forgets windows that are over, and the oldest if there are too many. */
  #forget(before: number): void {
    for (const [clientID, { since }] of this.#windows) {
      if (since > before && this.#windows.size <= maxWindows) return
      this.#windows.delete(clientID)
    }
  }
}
