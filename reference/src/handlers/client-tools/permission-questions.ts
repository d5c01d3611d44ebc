import { randomInt } from 'node:crypto'
import type { PermissionResponse } from '#contract'
import type { Bus } from '../events/bus.ts'
import type { Call } from './executions.ts'

/** How a question ended. `withdrawn` means that its caller disconnected. */
export type QuestionEnd = PermissionResponse | 'client disconnected' | 'stopped' | 'withdrawn'

type Asked = Pick<Call, 'clientID' | 'tool' | 'sessionID' | 'messageID' | 'callID' | 'input' | 'directory'>

interface Question {
  asked: Asked
  resolve: (end: QuestionEnd) => void
}

/** How many answers for all later calls are kept (S68). */
const maxAlways = 10_000

/** The questions to the user whether a client tool may run, and the answers that hold for later calls (CT 10.2). */
export class PermissionQuestions {
  readonly #bus: Bus
  readonly #open = new Map<string, Question>()
  /** Sessions with tools that may always run, the oldest first. */
  readonly #always = new Set<string>()
  #isStopped = false

  constructor(bus: Bus) {
    this.#bus = bus
  }

  /** Publishes a question, unless its answer is known, and waits for its end. */
  async ask(asked: Asked, signal: AbortSignal): Promise<QuestionEnd> {
    if (this.#isStopped) return 'stopped'
    if (signal.aborted) return 'withdrawn'
    if (this.#always.has(keyOf(asked))) return 'always'
    const { tool, sessionID, messageID, callID, input, directory } = asked
    const id = newID()
    const ended = new Promise<QuestionEnd>((resolve) => this.#open.set(id, { asked, resolve }))
    const metadata = { tool, input }
    const properties = { id, type: 'client_tool', sessionID, messageID, callID, title: tool, metadata, time: { created: Date.now() } } as const
    this.#bus.publish(directory, { type: 'permission.updated', properties })
    const withdraw = (): void => {
      this.#take(id)?.resolve('withdrawn')
    }
    signal.addEventListener('abort', withdraw)
    const end = await ended
    signal.removeEventListener('abort', withdraw)
    return end
  }

  /** Ends a question with an answer. Does nothing if there is no question with this ID (S67). */
  answer(permissionID: string, response: PermissionResponse): void {
    const question = this.#take(permissionID)
    if (question === undefined) return
    const { sessionID, directory } = question.asked
    if (response === 'always') this.#remember(keyOf(question.asked))
    this.#bus.publish(directory, { type: 'permission.replied', properties: { sessionID, permissionID, response } })
    question.resolve(response)
  }

  /** Ends the questions about the tools of a client. */
  disconnect(clientID: string): void {
    for (const [id, { asked }] of [...this.#open]) if (asked.clientID === clientID) this.#take(id)?.resolve('client disconnected')
  }

  /** Ends all questions, including later ones. */
  stop(): void {
    this.#isStopped = true
    for (const id of [...this.#open.keys()]) this.#take(id)?.resolve('stopped')
  }

  #take(id: string): Question | undefined {
    const question = this.#open.get(id)
    this.#open.delete(id)
    return question
  }

  #remember(key: string): void {
    this.#always.delete(key)
    this.#always.add(key)
    const [oldest] = this.#always
    if (this.#always.size > maxAlways && oldest !== undefined) this.#always.delete(oldest)
  }
}

function keyOf({ sessionID, tool }: Asked): string {
  return JSON.stringify([sessionID, tool])
}

function newID(): string {
  return 'per_' + Array.from({ length: 26 }, () => randomInt(36).toString(36)).join('')
}
