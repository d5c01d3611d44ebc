const timeLimitMs = 300_000

/** Says that a person has not answered in time. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

/** The questions of MCP servers that wait for a person (GA 8.3), of one agent. */
export class Elicitations {
  readonly #waiting = new Map<string, (data: unknown) => void>()

  /** The answer to the question of this id. Rejects with a NoAnswerError, or when the signal is aborted. */
  async wait(id: string, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
        this.#waiting.delete(id)
      }
      const onAbort = (): void => {
        settle()
        reject(signal.reason as Error) // whoever aborts gives an Error
      }
      const timer = setTimeout(() => {
        settle()
        reject(new NoAnswerError(`no answer within ${timeLimitMs / 1000} s`))
      }, timeLimitMs)
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.set(id, (data) => {
        settle()
        resolve(data)
      })
    })
  }

  /** Whether somebody waits for an answer to this question. */
  has(id: string): boolean {
    return this.#waiting.has(id)
  }

  answer(id: string, data: unknown): void {
    this.#waiting.get(id)?.(data)
  }
}
