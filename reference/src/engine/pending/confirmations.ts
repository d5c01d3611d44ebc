import { abortable } from '../../abortable.ts'
import type { SessionHandle } from '../../store/session-handle.ts'

/** How many early answers of a session are kept; the oldest ones are dropped. */
const keptAnswers = 32

/** An answer that arrived before its question, and the replies that may still ask. */
interface EarlyAnswer {
  id: string
  action: string
  replies: Set<ReplyDecisions>
}

/** A tool call that waits for a person's answer. */
interface PendingCall {
  id: string
  answered: (action: string) => void
}

/** The running replies of a session, with their questions and early answers. */
interface SessionState {
  replies: Set<ReplyDecisions>
  /** Ordered by age, the oldest first, like the early answers. */
  pendingCalls: PendingCall[]
  early: EarlyAnswer[]
}

/** A person's decisions for one reply. */
export interface ReplyDecisions {
  /** Waits, without a time limit, for a person's decision about a call. Rejects if the signal is aborted. */
  wait: (id: string, signal: AbortSignal) => Promise<string>
  /** Ends the reply. Early answers that only this reply could use are dropped. */
  end: () => void
}

/**
 * People's decisions about tool calls, each for one call with its id (GA 8.2). Early answers and questions with the same id are
 * matched in order (M56). Decisions belong to the session and not to its agent, which may be dropped while a reply waits (G16).
 */
export class Confirmations {
  readonly #sessions = new Map<SessionHandle, SessionState>()

  /** Registers a reply that begins. */
  begin(session: SessionHandle): ReplyDecisions {
    const state = this.#sessions.get(session) ?? { replies: new Set(), pendingCalls: [], early: [] }
    this.#sessions.set(session, state)
    const reply: ReplyDecisions = {
      wait: (id, signal) => wait(state, reply, id, signal),
      end: () => {
        state.replies.delete(reply)
        for (const { replies } of state.early) replies.delete(reply)
        state.early = state.early.filter(({ replies }) => replies.size > 0)
        if (state.replies.size === 0) this.#sessions.delete(session)
      },
    }
    state.replies.add(reply)
    return reply
  }

  /** Answers a call. Does nothing if no reply runs. */
  answer(session: SessionHandle, id: string, action: string): void {
    const state = this.#sessions.get(session)
    if (state === undefined) return
    const pendingCall = takeFirst(state.pendingCalls, (one) => one.id === id)
    if (pendingCall !== undefined) {
      pendingCall.answered(action)
      return
    }
    state.early.push({ id, action, replies: new Set(state.replies) })
    if (state.early.length > keptAnswers) state.early.shift()
  }
}

async function wait(state: SessionState, reply: ReplyDecisions, id: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted()
  const early = takeFirst(state.early, (one) => one.id === id && one.replies.has(reply))
  if (early !== undefined) return early.action
  return abortable(signal, (answered) => {
    const pendingCall = { id, answered }
    state.pendingCalls.push(pendingCall)
    return () => {
      state.pendingCalls = state.pendingCalls.filter((one) => one !== pendingCall)
    }
  })
}

/** Removes and returns the first match. */
function takeFirst<T>(list: T[], isLike: (one: T) => boolean): T | undefined {
  const at = list.findIndex(isLike)
  return at === -1 ? undefined : list.splice(at, 1)[0]
}
