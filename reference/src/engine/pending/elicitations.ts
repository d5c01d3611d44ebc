import { abortable } from '../../abortable.ts'
import type { SessionHandle } from '../../store/session-handle.ts'

const timeLimitMs = 300_000

/** A person has not answered in time. */
class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

/** The questions of MCP servers that wait for a person (GA 8.3). Each belongs to one session. */
export class Elicitations {
  readonly #waiting = new Map<string, { session: SessionHandle; answered: (data: unknown) => void }>()

  /** Waits for the answer to the question with this id. Rejects with a NoAnswerError, or when the signal is aborted. */
  wait(session: SessionHandle, id: string, signal: AbortSignal): Promise<unknown> {
    return abortable(signal, (answered, reject) => {
      const timer = setTimeout(() => {
        reject(new NoAnswerError(`no answer within ${timeLimitMs / 1000} s`))
      }, timeLimitMs)
      this.#waiting.set(id, { session, answered })
      return () => {
        clearTimeout(timer)
        this.#waiting.delete(id)
      }
    })
  }

  /** Whether this question of the session waits for an answer. */
  has(session: SessionHandle, id: string): boolean {
    return this.#waiting.get(id)?.session === session
  }

  answer(session: SessionHandle, id: string, data: unknown): void {
    if (this.has(session, id)) this.#waiting.get(id)?.answered(data)
  }
}
