/** Bytes that are written, on all connections together, before others have their turn. */
const bytesInATurn = 4 * 1024 * 1024
/** What each write takes as much time as, beside its bytes. */
const bytesOfAWrite = 16 * 1024
/** Bytes of a write that need not wait. */
const smallWrite = 4 * 1024

/**
 * Has writers take turns. The system takes megabytes for each connection at once: a thousand readers of a large answer would keep
 * all others waiting for seconds.
 */
export class WriteTurns {
  readonly #waiting: { bytes: number; go: () => void }[] = []
  #left = bytesInATurn
  #isRenewing = false

  /** Waits until so many bytes may be written; undefined if that is now. */
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
