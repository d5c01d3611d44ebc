import type { Confirmations } from '../agent/parts.ts'

/** How many answers are kept that nobody has asked for yet; of more, the oldest go. */
const keptAnswers = 32

/**
 * The decisions of a person about tool calls, each for the call of its id (GA 8.2). An answer may come before its
 * question; one that nobody asks for does no harm.
 */
export class AskedConfirmations implements Confirmations {
  readonly #waiting = new Map<string, (action: string) => void>()
  readonly #early = new Map<string, string>()

  answer(id: string, action: string): void {
    const waiting = this.#waiting.get(id)
    if (waiting !== undefined) {
      this.#waiting.delete(id)
      waiting(action)
      return
    }
    this.#early.delete(id)
    this.#early.set(id, action)
    const [oldest] = this.#early.keys()
    if (this.#early.size > keptAnswers && oldest !== undefined) this.#early.delete(oldest)
  }

  /** What a person decides about a call. Waits for ever; rejects when the signal is aborted. */
  async wait(id: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const early = this.#early.get(id)
    this.#early.delete(id)
    if (early !== undefined) return early
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.delete(id)
        reject(signal.reason as Error) // whoever aborts gives an Error
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.set(id, (action) => {
        signal.removeEventListener('abort', onAbort)
        resolve(action)
      })
    })
  }

  /** Those who wait are gone themselves: an agent is closed when no reply uses it. */
  close(): void {
    this.#early.clear()
  }
}
