import { ClientToolsError } from './errors.ts'
import type { Http } from './http.ts'
import { isObject, type JsonObject, parseJson } from './json.ts'
import type { ToolManager } from './manager.ts'
import { Scope } from './scope.ts'
import { readEvents } from './sse.ts'

export interface SessionOptions {
  /** Where the server's own tools work; the server's working directory by default. */
  workingDir?: string | undefined
  /** `false` does not connect the client's tools. */
  tools?: boolean | undefined
  /** Decides whether a tool may run that needs a confirmation. Without it, none may. */
  confirm?: ((question: Confirmation) => Decision | Promise<Decision>) | undefined
  /** Cancels the start. */
  signal?: AbortSignal | undefined
}

export interface Confirmation {
  id: string
  toolName: string
  arguments: JsonObject
  prompt: string | null
}

export type Decision = 'allow_once' | 'always_allow' | 'deny'

/** An event of a reply (GA 4.6). */
export type ReplyEvent =
  | { type: 'Message'; message: Message; token_state: JsonObject }
  | { type: 'Error'; error: string }
  | { type: 'Finish'; reason: string; token_state: JsonObject }
  | { type: 'ModelChange'; model: string; mode: string }
  | { type: 'Notification'; request_id: string; message: JsonObject }
  | { type: 'UpdateConversation'; conversation: Message[] }
  | { type: 'Ping' }

/** A message of a conversation (GA 4.1). */
export interface Message {
  id: string | null
  role: 'user' | 'assistant'
  created: number
  content: (JsonObject & { type: string })[]
  metadata: { userVisible: boolean; agentVisible: boolean }
}

export interface Session {
  /** The session as the server created it (GA 4.7). */
  readonly session: JsonObject & { id: string }
  /**
   * Selects the model of the session, such as `gpt-4o` of the provider `openai`. A new session has none, and its prompts fail.
   * The server has the provider's key and address in its settings, such as `OPENAI_API_KEY` (GA 6.5).
   */
  setModel: (provider: string, model: string, options?: { signal?: AbortSignal }) => Promise<void>
  /** Sends a message, and returns the text of the assistant's messages. Messages are separated by a line feed. */
  prompt: (text: string, options?: { signal?: AbortSignal }) => Promise<string>
  /** Sends a message, and returns all events of the reply. Stopping early cancels the reply. */
  events: (text: string, options?: { signal?: AbortSignal }) => AsyncGenerator<ReplyEvent, void, undefined>
  /** Disconnects the client's tools. */
  close: () => Promise<void>
}

export async function startSession(http: Http, tools: ToolManager, options: SessionOptions = {}): Promise<Session> {
  const { workingDir = '.', signal, confirm = () => 'deny' } = options
  const scope = new Scope().open({ signal })
  try {
    const body = { working_dir: workingDir, clientID: tools.clientID }
    const session = parseJson(await http.send(scope, 'POST', '/agent/start', body))
    if (!isObject(session) || typeof session.id !== 'string') throw new ClientToolsError('Invalid session')
    if (options.tools !== false) await tools.connect(signal ? { signal } : {})
    const id = session.id
    const events: Session['events'] = (text, { signal } = {}) => reply(http, id, text, confirm, signal)
    return {
      session: { ...session, id },
      setModel: async (provider, model, { signal } = {}) => {
        const scope = new Scope().open({ signal })
        try {
          await http.send(scope, 'POST', '/agent/update_provider', { provider, model, session_id: id })
        } finally {
          scope.end()
        }
      },
      events,
      prompt: (text, options) => textOf(events(text, options)),
      close: () => tools.disconnect(),
    }
  } finally {
    scope.end()
  }
}

type Confirm = NonNullable<SessionOptions['confirm']>

async function* reply(
  http: Http, sessionID: string, text: string, confirm: Confirm, signal: AbortSignal | undefined,
): AsyncGenerator<ReplyEvent, void, undefined> {
  const message: Message = {
    id: null,
    role: 'user',
    created: Math.floor(Date.now() / 1000),
    content: [{ type: 'text', text }],
    metadata: { userVisible: true, agentVisible: true },
  }
  const scope = new Scope().open({ signal })
  try {
    const response = await http.open(scope, 'POST', '/reply', { messages: [message], session_id: sessionID }, 'text/event-stream')
    for await (const { data } of readEvents(response.body, scope.signal)) {
      const event = parseJson(data)
      if (!isObject(event) || typeof event.type !== 'string') throw new ClientToolsError('Invalid event of a reply')
      const known = event as unknown as ReplyEvent // the contract says what each type has
      yield known
      if (known.type === 'Finish') return
      if (known.type === 'Error') throw new ClientToolsError(known.error)
      for (const question of questionsOf(known)) {
        const action = await scope.race(Promise.resolve(confirm(question)))
        await http.send(scope, 'POST', '/action-required/tool-confirmation', { id: question.id, action, sessionId: sessionID })
      }
    }
    throw new ClientToolsError('The reply ended without Finish')
  } finally {
    scope.end()
  }
}

/** The confirmations that an event asks for (GA 4.4). */
function questionsOf(event: ReplyEvent): Confirmation[] {
  if (event.type !== 'Message') return []
  return event.message.content
    .filter(({ type, data }) => type === 'actionRequired' && isObject(data) && data.actionType === 'toolConfirmation')
    .map(({ data }) => data as Confirmation) // the contract says what this type has
}

/** The text of the assistant's messages. Pieces with the same id are one message (GA 7.7). */
async function textOf(events: AsyncIterable<ReplyEvent>): Promise<string> {
  const texts: { id: string | null; text: string }[] = []
  for await (const event of events) {
    if (event.type !== 'Message' || event.message.role !== 'assistant') continue
    const { id, content } = event.message
    const text = content.map((item) => (item.type === 'text' ? String(item.text) : '')).join('')
    const last = texts.at(-1)
    if (last && id !== null && last.id === id) last.text += text
    else texts.push({ id, text })
  }
  return texts.map(({ text }) => text).filter(Boolean).join('\n')
}
