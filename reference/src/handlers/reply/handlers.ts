import type * as contract from '#contract'
import { bodyIsDecoded } from '../../httpapi/body.ts'
import { maxReplyBody } from '../../httpapi/json-body.ts'
import { Rendered, withBody, type Operation } from '../../httpapi/operation.ts'
import { streamResponse } from '../../httpapi/sse/stream-response.ts'
import { array, bodyOf, nullable, oneOf, string, withDefault, type ReadBy } from '../../wire/json/shape.ts'
import { message as messageShape, type Message } from '../../domain/message/message.ts'
import { SessionDeletedError, type SessionHandle } from '../../store/session-handle.ts'
import { PublicError, clientMessage } from '../../public-error.ts'
import type { ReplyDecisions } from '../../engine/pending/confirmations.ts'
import { ReplyLoop, type ReplyListener } from '../../engine/turn/reply-loop.ts'
import { tokenState } from './token-state.ts'
import { textMessage } from '../../domain/message/new-message.ts'
import type { Agent } from '../../engine/agent/agent.ts'
import type { ReplyServices } from '../../engine/turn/reply-services.ts'
import { ReplyStream } from './reply-stream.ts'
import { asksToCompact, elicitationAnswer, messagesToSave } from '../../engine/turn/user-message.ts'

const chatRequest = bodyOf<contract.ChatRequest>()({
  messages: array(messageShape),
  session_id: string,
  recipe_name: nullable(string),
  recipe_version: nullable(string),
})

/** `POST /reply` (GA 7). The status is always 200; everything else is in the stream, including errors. */
export function reply(deps: ReplyServices): Operation<contract.ReplyData, contract.ReplyResponses, contract.ReplyErrors> {
  const start = ({ messages, session_id: id }: ReadBy<typeof chatRequest>, request: Request): Rendered<contract.MessageEvent> => {
    bodyIsDecoded(request)
    const stream = new ReplyStream()
    void runReply(deps, id, messages.at(-1), stream) // never rejects
    return new Rendered(streamResponse(stream))
  }
  return withBody(chatRequest, ({ body, request }) => start(body, request), maxReplyBody)
}

/** Runs a reply to its end. Its agent stays in memory until then. */
async function runReply(deps: ReplyServices, id: string, message: Message | undefined, stream: ReplyStream): Promise<void> {
  const agent = deps.agents.get(id)
  const { session } = agent
  const release = agent.use()
  const decisions = deps.confirmations.begin(session)
  const stop = (): void => {
    stream.giveUp(session.deleted.reason as Error) // a SessionDeletedError
  }
  session.deleted.addEventListener('abort', stop)
  try {
    let run: RunReply
    try {
      run = await startReply(deps, agent, message)
    } catch (error) {
      if (!(error instanceof PublicError) || error.cause !== undefined) deps.logger.warn('reply not begun', { session: id, err: error })
      await stream.send({ type: 'Error', error: clientMessage(error) })
      return
    }
    stream.startPings()
    await sendFinish(runEngine(run, listenerOf(session, decisions, stream), agent, deps), deps, session, stream)
  } catch (err) {
    if (!stream.signal.aborted) deps.logger.error('reply broke', { session: id, err })
  } finally {
    session.deleted.removeEventListener('abort', stop)
    stream.end()
    decisions.end()
    release()
  }
}

/** Runs the engine, in its span if there is telemetry (T15). */
function runEngine(run: RunReply, listener: ReplyListener, { session, provider }: Agent, { telemetry }: ReplyServices): Promise<void> {
  if (telemetry === undefined) return run(listener)
  return telemetry.agent({ session: session.id, provider: provider?.name, signal: listener.signal }, () => run(listener))
}

/** Sends the end of a reply. The stream for a deleted session ends with `Finish` too (G29). Rejects if the client disconnects. */
async function sendFinish(run: Promise<void>, { logger }: ReplyServices, session: SessionHandle, stream: ReplyStream): Promise<void> {
  const finish = (): contract.MessageEvent => ({ type: 'Finish', reason: 'stop', token_state: tokenState(session.latest()) })
  try {
    await run.catch(async (error: unknown) => {
      if (stream.signal.aborted || error instanceof SessionDeletedError) throw error
      logger.warn('reply failed', { session: session.id, err: error })
      await stream.send({ type: 'Error', error: clientMessage(error) })
    })
    await stream.send(finish())
  } catch (error) {
    if (!session.deleted.aborted) throw error
    stream.sendLast(finish())
  }
}

function listenerOf(session: SessionHandle, decisions: ReplyDecisions, stream: ReplyStream): ReplyListener {
  return {
    sendMessage: (message) => stream.send({ type: 'Message', message, token_state: tokenState(session.latest()) }),
    sendModelChange: ({ model, mode }) => stream.send({ type: 'ModelChange', model, mode }),
    sendNotification: (requestId, message) => stream.send({ type: 'Notification', request_id: requestId, message }),
    sendConversation: async () => stream.send({ type: 'UpdateConversation', conversation: (await session.load())?.conversation ?? [] }),
    waitForDecision: decisions.wait,
    signal: stream.signal,
  }
}

type RunReply = (listener: ReplyListener) => Promise<void>

/**
 * Saves the message, and returns the function that replies to it. Rejects with an early error; the stream then has neither pings
 * nor `Finish` (GA 7.3).
 */
async function startReply(deps: ReplyServices, agent: Agent, message: Message | undefined): Promise<RunReply> {
  const own = agent.session
  if (own.find() === undefined) throw new PublicError('Failed to read session: Session not found')
  if (message === undefined) throw new PublicError('Reply started with empty messages')
  const answered = elicitationAnswer(message)
  if (answered !== undefined) return (listener) => submitElicitation(deps, agent, message, answered, listener)
  const compacts = asksToCompact(message)
  await own.addMessages(compacts ? [{ ...message, id: null }] : await messagesToSave(message, deps))
  const session = await own.load()
  if (session === undefined) throw new PublicError('Failed to read session: Session not found')
  if (compacts) return (listener) => new ReplyLoop(deps, agent, session, listener).compactOnly()
  const { provider } = agent
  if (provider === null) throw new PublicError('Provider not set')
  return (listener) => new ReplyLoop(deps, agent, session, listener).reply(provider)
}

/** Passes a person's answer to the MCP server that asked, if it still waits (GA 8.3, M44). */
async function submitElicitation(
  { elicitations }: ReplyServices,
  { session }: Agent,
  message: Message,
  { id, data }: { id: string; data: unknown },
  { sendMessage }: ReplyListener,
): Promise<void> {
  if (!elicitations.has(session, id)) {
    await sendMessage(textMessage('assistant', `Failed to submit elicitation response: Request not found: ${id}`))
    return
  }
  await session.addMessages([{ ...message, id: null }])
  elicitations.answer(session, id, data)
}

const confirmRequest = bodyOf<contract.ConfirmToolActionRequest>()({
  id: string,
  principalType: withDefault<contract.PrincipalType>(oneOf('Extension', 'Tool'), 'Tool'),
  action: string,
  sessionId: string,
})

/** `POST /action-required/tool-confirmation` (GA 8.1). An unknown id is ignored. */
export function confirmTool(
  { agents, confirmations }: ReplyServices,
): Operation<contract.ConfirmToolActionData, contract.ConfirmToolActionResponses, contract.ConfirmToolActionErrors> {
  return withBody(confirmRequest, ({ body: { id, action, sessionId } }) => {
    confirmations.answer(agents.get(sessionId).session, id, action)
    return { status: 200, body: {} }
  })
}
