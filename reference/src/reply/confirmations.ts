import type { Confirmations } from '../agent/parts.ts'

/** How many answers are kept that nobody has asked for yet; of more, the oldest go. */
const keptAnswers = 32

interface Answer {
  id: string
  action: string
}

/** A call that waits for its answer. */
interface Question {
  id: string
  answered: (action: string) => void
}

/**
 * The decisions of a person about tool calls, each for one call of its id (GA 8.2). Both answers that come before their
 * questions and questions with one id are served in their order (M56). An answer that nobody asks for does no harm.
 */
export class AskedConfirmations implements Confirmations {
  readonly #questions: Question[] = []
  readonly #early: Answer[] = []

  answer(id: string, action: string): void {
    const question = takeFirst(this.#questions, id)
    if (question !== undefined) {
      question.answered(action)
      return
    }
    this.#early.push({ id, action })
    if (this.#early.length > keptAnswers) this.#early.shift()
  }

  /** What a person decides about a call. Waits for ever; rejects when the signal is aborted. */
  async wait(id: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const early = takeFirst(this.#early, id)
    if (early !== undefined) return early.action
    return new Promise((resolve, reject) => {
      const question: Question = {
        id,
        answered: (action) => {
          signal.removeEventListener('abort', onAbort)
          resolve(action)
        },
      }
      const onAbort = (): void => {
        this.#questions.splice(this.#questions.indexOf(question), 1)
        reject(signal.reason as Error) // whoever aborts gives an Error
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#questions.push(question)
    })
  }

  /** Those who wait are gone themselves: an agent is closed when no reply uses it. */
  close(): void {
    this.#early.length = 0
  }
}

/** The oldest with this id, taken out of the list. */
function takeFirst<T extends { id: string }>(list: T[], id: string): T | undefined {
  const at = list.findIndex((one) => one.id === id)
  return at === -1 ? undefined : list.splice(at, 1)[0]
}
