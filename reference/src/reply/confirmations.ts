import type { OwnSession } from '../store/own-session.ts'

/** How many answers of a session are kept that nobody has asked for yet; of more, the oldest go. */
const keptAnswers = 32

/** An answer that has come before its question, and the replies that may still ask. */
interface EarlyAnswer {
  id: string
  action: string
  replies: Set<Reply>
}

/** A call that waits for its answer. */
interface Question {
  id: string
  answered: (action: string) => void
}

/** The replies of a session that run, with their questions and answers. */
interface Desk {
  replies: Set<Reply>
  /** Oldest first, as the answers are. */
  questions: Question[]
  early: EarlyAnswer[]
}

/** The decisions of a person for one reply. */
export interface Reply {
  /** What a person decides about a call. Waits for ever; rejects when the signal is aborted. */
  wait: (id: string, signal: AbortSignal) => Promise<string>
  /** The reply has ended, and with it the answers that it has not asked for. */
  end: () => void
}

/**
 * The decisions of persons about tool calls, each for one call of its id (GA 8.2). Both answers that come before their
 * questions and questions with one id are served in their order (M56). They belong to the session and not to its agent,
 * which may be dropped while a reply asks (G16).
 */
export class Confirmations {
  readonly #desks = new Map<OwnSession, Desk>()

  /** A reply begins. */
  begin(session: OwnSession): Reply {
    const desk = this.#desks.get(session) ?? { replies: new Set(), questions: [], early: [] }
    this.#desks.set(session, desk)
    const reply: Reply = {
      wait: (id, signal) => wait(desk, reply, id, signal),
      end: () => {
        desk.replies.delete(reply)
        for (const { replies } of desk.early) replies.delete(reply)
        desk.early = desk.early.filter(({ replies }) => replies.size > 0)
        if (desk.replies.size === 0) this.#desks.delete(session)
      },
    }
    desk.replies.add(reply)
    return reply
  }

  /** Without a reply that runs this does nothing. */
  answer(session: OwnSession, id: string, action: string): void {
    const desk = this.#desks.get(session)
    if (desk === undefined) return
    const question = takeFirst(desk.questions, (one) => one.id === id)
    if (question !== undefined) {
      question.answered(action)
      return
    }
    desk.early.push({ id, action, replies: new Set(desk.replies) })
    if (desk.early.length > keptAnswers) desk.early.shift()
  }
}

async function wait(desk: Desk, reply: Reply, id: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted()
  const early = takeFirst(desk.early, (one) => one.id === id && one.replies.has(reply))
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
      desk.questions.splice(desk.questions.indexOf(question), 1)
      reject(signal.reason as Error) // an abort always has an Error as its reason
    }
    signal.addEventListener('abort', onAbort, { once: true })
    desk.questions.push(question)
  })
}

/** The oldest like this, taken out of the list. */
function takeFirst<T>(list: T[], isLike: (one: T) => boolean): T | undefined {
  const at = list.findIndex(isLike)
  return at === -1 ? undefined : list.splice(at, 1)[0]
}
