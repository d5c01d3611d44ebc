/** How many bytes are written on all connections before the event loop runs again. */
const bytesInATurn = 4 * 1024 * 1024
/** The fixed cost of a write, in bytes. */
const bytesOfAWrite = 16 * 1024
/** Writes up to this size do not wait. */
const smallWrite = 4 * 1024

/**
 * Shares the event loop among writers. The system accepts megabytes for each connection at once, so a thousand readers of a large
 * response would block all other requests for seconds.
 */
export class WriteScheduler {
  readonly #waiting: { bytes: number; go: () => void }[] = []
  #left = bytesInATurn
  #isRenewing = false

  /** Waits until this many bytes may be written; returns undefined if they may be written now. */
  take(bytes: number): Promise<void> | undefined {
    if (bytes <= smallWrite || (this.#left > 0 && this.#waiting.length === 0)) {
      this.#use(bytes)
      return undefined
    }
    return new Promise((go) => this.#waiting.push({ bytes, go }))
  }

  #use(bytes: number): void {
    this.#left -= bytes + bytesOfAWrite
    if (this.#isRenewing) return
    this.#isRenewing = true
    setImmediate(() => {
      this.#renew()
    })
  }

  #renew(): void {
    this.#isRenewing = false
    this.#left = bytesInATurn
    let served = 0
    for (const { bytes, go } of this.#waiting) {
      if (this.#left <= 0) break
      this.#use(bytes)
      go()
      served++
    }
    this.#waiting.splice(0, served)
  }
}
