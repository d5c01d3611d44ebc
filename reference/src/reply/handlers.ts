import type { Handler } from 'hono'
import { bodyIsDecoded } from '../http/body.ts'
import { json } from '../http/respond.ts'
import { maxReplyBody, readJsonBody } from '../http/json-body.ts'
import { array, nullable, object, oneOf, string, withDefault } from '../json/shape.ts'
import { message as messageShape } from '../message/message.ts'
import type { Message } from '../message/message.ts'
import { ToldError, told } from '../told-error.ts'
import { Engine } from './engine.ts'
import type { Listener } from './engine.ts'
import { tokenState } from './events.ts'
import type { TokenState } from './events.ts'
import { textMessage } from './new-message.ts'
import type { EngineAgent, ReplyParts } from './parts.ts'
import { ClientGoneError, ReplyStream } from './reply-stream.ts'
import { SessionGoneError } from './saved-messages.ts'
import { asksToCompact, elicitationAnswer, messagesToSave } from './user-message.ts'

interface ChatRequest {
  messages: Message[]
  session_id: string
  recipe_name: string | null
  recipe_version: string | null
}

const chatRequest = object<ChatRequest>({
  messages: array(messageShape),
  session_id: string,
  recipe_name: nullable(string),
  recipe_version: nullable(string),
})

/** `POST /reply` (GA 7): always 200, and everything that happens then is in the stream. */
export function reply(parts: ReplyParts): Handler {
  return async (c) => {
    const { messages, session_id: id } = await readJsonBody(c.req.raw, chatRequest, maxReplyBody)
    bodyIsDecoded(c.req.raw)
    const stream = new ReplyStream()
    void answer(parts, id, messages.at(-1), stream) // never rejects
    return new Response(stream.body, {
      headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache', Connection: 'keep-alive' },
    })
  }
}

/** Runs a reply to its end, and keeps its agent as long. */
async function answer(parts: ReplyParts, id: string, message: Message | undefined, stream: ReplyStream): Promise<void> {
  const agent = parts.agents.get(id)
  const release = agent.use()
  try {
    let run: Run
    try {
      run = begin(parts, agent, message)
    } catch (error) {
      if (!(error instanceof ToldError) || error.cause !== undefined) parts.logger.warn('reply not begun', { session: id, err: error })
      await stream.send({ type: 'Error', error: told(error) })
      return
    }
    stream.startPings()
    const tokens = tokenReader(parts, id)
    try {
      await run(listenerOf(parts, id, tokens, stream))
    } catch (error) {
      if (error instanceof ClientGoneError) throw error
      if (!(error instanceof SessionGoneError)) {
        parts.logger.warn('reply failed', { session: id, err: error })
        await stream.send({ type: 'Error', error: told(error) })
      }
    }
    await stream.send({ type: 'Finish', reason: 'stop', token_state: tokens() })
  } catch (err) {
    if (!stream.signal.aborted) parts.logger.error('reply broke', { session: id, err })
  } finally {
    stream.end()
    release()
  }
}

/** Reads what a session has cost; of one that was deleted meanwhile, what was read last (M55). */
function tokenReader({ store }: ReplyParts, id: string): () => TokenState {
  let last = tokenState(store.find(id))
  return () => {
    const session = store.find(id)
    if (session !== undefined) last = tokenState(session)
    return last
  }
}

function listenerOf({ store }: ReplyParts, id: string, tokens: () => TokenState, stream: ReplyStream): Listener {
  return {
    say: (message) => stream.send({ type: 'Message', message, token_state: tokens() }),
    modelChanged: ({ model, mode }) => stream.send({ type: 'ModelChange', model, mode }),
    notify: (requestId, message) => stream.send({ type: 'Notification', request_id: requestId, message }),
    replaced: () => stream.send({ type: 'UpdateConversation', conversation: store.load(id)?.conversation ?? [] }),
    signal: stream.signal,
  }
}

type Run = (listener: Listener) => Promise<void>

/** Saves the message, and says how it will be answered. What it throws is an early error, without pings and Finish (GA 7.3). */
function begin(parts: ReplyParts, agent: EngineAgent, message: Message | undefined): Run {
  const { store, settings, logger } = parts
  const id = agent.sessionId
  if (store.find(id) === undefined) throw new ToldError('Failed to read session: Session not found')
  if (message === undefined) throw new ToldError('Reply started with empty messages')
  const answered = elicitationAnswer(message)
  if (answered !== undefined) return (listener) => passOn(parts, agent, message, answered, listener)
  const compacts = asksToCompact(message)
  store.addMessages(id, compacts ? [{ ...message, id: null }] : messagesToSave(message, settings, logger))
  const session = store.load(id)
  if (session === undefined) throw new ToldError('Failed to read session: Session not found')
  if (compacts) return (listener) => new Engine(parts, agent, session, listener).compactOnly()
  const { provider } = agent.parts.model
  if (provider === null) throw new ToldError('Provider not set')
  return (listener) => new Engine(parts, agent, session, listener).reply(provider)
}

/** Gives the answer of a person to the MCP server that has asked, if it still waits (GA 8.3, M44). */
async function passOn(
  { store }: ReplyParts,
  { sessionId, parts: { elicitations } }: EngineAgent,
  message: Message,
  { id, data }: { id: string; data: unknown },
  { say }: Listener,
): Promise<void> {
  if (!elicitations.has(id)) {
    await say(textMessage('assistant', `Failed to submit elicitation response: Request not found: ${id}`))
    return
  }
  store.addMessages(sessionId, [{ ...message, id: null }])
  elicitations.answer(id, data)
}

interface ConfirmRequest {
  id: string
  principalType: 'Extension' | 'Tool'
  action: string
  sessionId: string
}

const confirmRequest = object<ConfirmRequest>({
  id: string,
  principalType: withDefault(oneOf('Extension', 'Tool'), 'Tool'),
  action: string,
  sessionId: string,
})

/** `POST /action-required/tool-confirmation` (GA 8.1). An id that nobody waits for does no harm. */
export function confirmTool({ agents }: Pick<ReplyParts, 'agents'>): Handler {
  return async (c) => {
    const { id, action, sessionId } = await readJsonBody(c.req.raw, confirmRequest)
    agents.get(sessionId).parts.confirmations.answer(id, action)
    return json(200, {})
  }
}
