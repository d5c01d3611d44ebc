import type { OwnSession } from '../store/own-session.ts'

const timeLimitMs = 300_000

/** Says that a person has not answered in time. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

/** The questions of MCP servers that wait for a person (GA 8.3), each of one session. */
export class Elicitations {
  readonly #waiting = new Map<string, { session: OwnSession; answered: (data: unknown) => void }>()

  /** The answer to the question of this id. Rejects with a NoAnswerError, or when the signal is aborted. */
  async wait(session: OwnSession, id: string, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
        this.#waiting.delete(id)
      }
      const onAbort = (): void => {
        settle()
        reject(signal.reason as Error) // an abort always has an Error as its reason
      }
      const timer = setTimeout(() => {
        settle()
        reject(new NoAnswerError(`no answer within ${timeLimitMs / 1000} s`))
      }, timeLimitMs)
      signal.addEventListener('abort', onAbort, { once: true })
      const answered = (data: unknown): void => {
        settle()
        resolve(data)
      }
      this.#waiting.set(id, { session, answered })
    })
  }

  /** Whether somebody waits in this session for an answer to this question. */
  has(session: OwnSession, id: string): boolean {
    return this.#waiting.get(id)?.session === session
  }

  answer(session: OwnSession, id: string, data: unknown): void {
    if (this.has(session, id)) this.#waiting.get(id)?.answered(data)
  }
}
