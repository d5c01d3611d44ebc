import type { Logger } from '../../log.ts'
import { textOf, type Provider } from '../../llm/model.ts'
import type { Message } from '../../domain/message/message.ts'
import type { SessionHandle } from '../../store/session-handle.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import { shortened } from '../../text/truncate.ts'
import { squeezed } from '../../text/white-space.ts'
import { textMessage } from '../../domain/message/new-message.ts'

const system = 'Describe the topic of a conversation in four words or fewer. Answer with a short description and nothing else.'
const namedMessages = 3
const maxNameLength = 100
const timeLimitMs = 60_000

/** Names sessions by topic, in the background (GA 18.6). Its model calls may outlive the replies that started them. */
export class SessionNaming {
  readonly #logger: Logger
  readonly #telemetry: Telemetry | undefined
  readonly #running = new Map<Promise<void>, AbortController>()

  constructor(logger: Logger, telemetry?: Telemetry) {
    this.#logger = logger
    this.#telemetry = telemetry
  }

  /** Asks for a name if the session is new and the user has not named it. */
  begin(session: SessionHandle, conversation: readonly Message[], provider: Provider): void {
    if (session.find()?.user_set_name !== false) return
    const texts = conversation
      .filter(({ role, content }) => role === 'user' && content.some(({ type }) => type === 'text'))
      .map(({ content }) => textOf(content))
    if (texts.length === 0 || texts.length > namedMessages) return
    const over = new AbortController()
    const timer = setTimeout(() => {
      over.abort(new DOMException(`no name within ${timeLimitMs} ms`, 'TimeoutError'))
    }, timeLimitMs)
    const either = AbortSignal.any([over.signal, session.deleted])
    const named =
      this.#telemetry === undefined
        ? this.#ask(session, provider, texts, either)
        : this.#telemetry.apart(session.id, () => this.#ask(session, provider, texts, either))
    const run = named.finally(() => {
      clearTimeout(timer)
      this.#running.delete(run)
    })
    this.#running.set(run, over)
  }

  /** Aborts all model calls, and waits until they have ended. */
  async stop(): Promise<void> {
    for (const over of this.#running.values()) over.abort(new Error('the server stops'))
    await Promise.all(this.#running.keys())
  }

  /** Never rejects: without an answer the name does not change. */
  async #ask(session: SessionHandle, provider: Provider, texts: readonly string[], signal: AbortSignal): Promise<void> {
    try {
      const question = ['The messages of the user:', ...texts].join('\n\n')
      const answer = await provider.completeFast({ system, messages: [textMessage('user', question)], tools: [] }, signal)
      const name = shortName(textOf(answer.content))
      // The user may have named the session meanwhile.
      if (name !== '' && session.find()?.user_set_name === false) session.update({ name })
    } catch (err) {
      if (!session.deleted.aborted) this.#logger.warn('session not named', { session: session.id, err })
    }
  }
}

/** The name on one line, shortened if necessary (M22). */
export function shortName(text: string): string {
  return shortened(squeezed(text), maxNameLength)
}
