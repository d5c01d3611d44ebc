import type { Handler } from 'hono'
import { bodyIsDecoded } from '../http/body.ts'
import { json } from '../http/respond.ts'
import { maxReplyBody, readJsonBody } from '../http/json-body.ts'
import { array, nullable, object, oneOf, string, withDefault } from '../json/shape.ts'
import { message as messageShape } from '../message/message.ts'
import type { Message } from '../message/message.ts'
import { SessionGoneError } from '../store/own-session.ts'
import type { OwnSession } from '../store/own-session.ts'
import { ToldError, told } from '../told-error.ts'
import type { Reply } from './confirmations.ts'
import { Engine } from './engine.ts'
import type { Listener } from './engine.ts'
import { tokenState } from './events.ts'
import type { MessageEvent } from './events.ts'
import { textMessage } from './new-message.ts'
import type { EngineAgent, ReplyParts } from './parts.ts'
import { ReplyStream } from './reply-stream.ts'
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
  const { session } = agent.parts
  const release = agent.use()
  const decisions = parts.confirmations.begin(session)
  const stop = (): void => {
    stream.giveUp(session.gone.reason as Error) // a SessionGoneError
  }
  session.gone.addEventListener('abort', stop)
  try {
    let run: Run
    try {
      run = await begin(parts, agent, message)
    } catch (error) {
      if (!(error instanceof ToldError) || error.cause !== undefined) parts.logger.warn('reply not begun', { session: id, err: error })
      await stream.send({ type: 'Error', error: told(error) })
      return
    }
    stream.startPings()
    await finished(run(listenerOf(session, decisions, stream)), parts, session, stream)
  } catch (err) {
    if (!stream.signal.aborted) parts.logger.error('reply broke', { session: id, err })
  } finally {
    session.gone.removeEventListener('abort', stop)
    stream.end()
    decisions.end()
    release()
  }
}

/** Tells how a reply ended: also that of a session that was deleted ends with `Finish` (G29). Rejects when the client has gone. */
async function finished(run: Promise<void>, { logger }: ReplyParts, session: OwnSession, stream: ReplyStream): Promise<void> {
  const finish = (): MessageEvent => ({ type: 'Finish', reason: 'stop', token_state: tokenState(session.latest()) })
  try {
    await run.catch(async (error: unknown) => {
      if (stream.signal.aborted || error instanceof SessionGoneError) throw error
      logger.warn('reply failed', { session: session.id, err: error })
      await stream.send({ type: 'Error', error: told(error) })
    })
    await stream.send(finish())
  } catch (error) {
    if (!session.gone.aborted) throw error
    stream.sendLast(finish())
  }
}

function listenerOf(session: OwnSession, decisions: Reply, stream: ReplyStream): Listener {
  return {
    say: (message) => stream.send({ type: 'Message', message, token_state: tokenState(session.latest()) }),
    modelChanged: ({ model, mode }) => stream.send({ type: 'ModelChange', model, mode }),
    notify: (requestId, message) => stream.send({ type: 'Notification', request_id: requestId, message }),
    replaced: async () => stream.send({ type: 'UpdateConversation', conversation: (await session.load())?.conversation ?? [] }),
    decided: decisions.wait,
    signal: stream.signal,
  }
}

type Run = (listener: Listener) => Promise<void>

/** Saves the message, and says how it will be answered. What it rejects with is an early error, without pings and Finish (GA 7.3). */
async function begin(parts: ReplyParts, agent: EngineAgent, message: Message | undefined): Promise<Run> {
  const own = agent.parts.session
  if (own.find() === undefined) throw new ToldError('Failed to read session: Session not found')
  if (message === undefined) throw new ToldError('Reply started with empty messages')
  const answered = elicitationAnswer(message)
  if (answered !== undefined) return (listener) => passOn(parts, agent, message, answered, listener)
  const compacts = asksToCompact(message)
  await own.addMessages(compacts ? [{ ...message, id: null }] : await messagesToSave(message, parts))
  const session = await own.load()
  if (session === undefined) throw new ToldError('Failed to read session: Session not found')
  if (compacts) return (listener) => new Engine(parts, agent, session, listener).compactOnly()
  const { provider } = agent.parts.model
  if (provider === null) throw new ToldError('Provider not set')
  return (listener) => new Engine(parts, agent, session, listener).reply(provider)
}

/** Gives the answer of a person to the MCP server that has asked, if it still waits (GA 8.3, M44). */
async function passOn(
  { elicitations }: ReplyParts,
  { parts: { session } }: EngineAgent,
  message: Message,
  { id, data }: { id: string; data: unknown },
  { say }: Listener,
): Promise<void> {
  if (!elicitations.has(session, id)) {
    await say(textMessage('assistant', `Failed to submit elicitation response: Request not found: ${id}`))
    return
  }
  await session.addMessages([{ ...message, id: null }])
  elicitations.answer(session, id, data)
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
export function confirmTool({ agents, confirmations }: ReplyParts): Handler {
  return async (c) => {
    const { id, action, sessionId } = await readJsonBody(c.req.raw, confirmRequest)
    confirmations.answer(agents.get(sessionId).parts.session, id, action)
    return json(200, {})
  }
}
