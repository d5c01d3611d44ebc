import type { Agent } from '../agent/agent.ts'
import type { ClientTool, ClientToolCall, RunningReply } from '../client-tools/client-tools.ts'
import type { ContentOf } from '../../domain/message/content.ts'
import type { Message } from '../../domain/message/message.ts'
import type { Result, ToolCall } from '../../domain/message/result.ts'
import type { ToolContent } from '../../domain/message/tool-content.ts'
import { abortable } from '../../abortable.ts'
import { mapConcurrently } from '../../map-concurrently.ts'
import { converted } from './coerce-arguments.ts'
import { decideCalls, type DecidedCall, type PreparedCall } from './decide-calls.ts'
import { newMessage, newMessageId } from '../../domain/message/new-message.ts'
import { frontendNames, type Offered } from './offered-tools.ts'
import { runCall, type CallDeps } from './run-call.ts'

type ToolRequest = ContentOf<'toolRequest'>

/** A tool request, and the id of the message that announced it. */
export interface AnnouncedRequest {
  request: ToolRequest
  messageId: string | null
}

/** What running the tools of a turn requires. */
interface ToolRunDeps extends Omit<CallDeps, 'giveUp'> {
  /** What the model was offered. */
  offered: Offered
  reply: RunningReply
}

/** How many tools of one answer run at the same time (M67). */
const maxRunning = 64

/**
 * Runs the tools that a model has called, and asks a person first where necessary (GA 7.8). Returns the messages to save: for
 * each request, the call as it ran, and its result.
 */
export async function runTools(requests: readonly AnnouncedRequest[], given: ToolRunDeps): Promise<Message[]> {
  const over = new AbortController()
  const deps = { ...given, signal: AbortSignal.any([given.signal, over.signal]), giveUp: (reason: Error) => { over.abort(reason) } }
  const frontend = frontendNames(deps.agent, deps.offered.clientTools)
  const calls = requests.flatMap((announced) => prepared(announced, deps) ?? [])
  for (const { request, call } of calls) if (frontend.has(call.name)) await waitForClient(request, deps)
  const decided = await decideCalls(calls, deps)
  const results = await mapConcurrently(maxRunning, decided, (one) => observedCall(one, deps))
  const saved: Message[] = []
  for (const [index, { call: { request, call } }] of decided.entries()) {
    const result = results[index] ?? { status: 'error', error: '-32603: no result' }
    const response = newMessage('user', [{ type: 'toolResponse', id: request.id, toolResult: result }], undefined, newMessageId())
    await deps.reply.sendMessage(response)
    const ran: ToolRequest = { ...request, toolCall: { status: 'success', value: call } }
    saved.push(newMessage('assistant', [ran], undefined, newMessageId()), response)
  }
  return saved
}

/** Runs a call in its span, if it was decided that it runs (T17). */
function observedCall(decided: DecidedCall, deps: CallDeps): Promise<Result<ToolContent[]>> {
  const { telemetry, signal } = deps
  if (telemetry === undefined || decided.decision !== 'run') return runCall(decided, deps)
  const { request, asked, client } = decided.call
  let isMarked = false
  const onErrorResult = (): void => {
    isMarked = true
  }
  return telemetry.tool({ name: asked.name, id: request.id, signal }, () => runCall(decided, { ...deps, onErrorResult }), (result) => {
    if (result.status === 'success') return isMarked ? 'tool_error' : undefined
    // An error that a client sends is its own text, whatever it begins with.
    return (client === undefined && /^(-?\d+): /.exec(result.error)?.[1]) || '_OTHER'
  })
}

/** Undefined for a malformed request. */
function prepared({ request, messageId }: AnnouncedRequest, { agent, offered }: ToolRunDeps): PreparedCall | undefined {
  if (request.toolCall.status === 'error') return undefined
  const asked = request.toolCall.value
  const call = converted(asked, offered.tools)
  const tool = offered.clientTools.get(call.name)
  return { request, asked, call, client: tool && clientCall(tool, call, request.id, messageId, agent) }
}

function clientCall(tool: ClientTool, { arguments: input = {} }: ToolCall, callID: string, messageId: string | null, { session }: Agent): ClientToolCall {
  return { tool, sessionID: session.id, messageID: messageId ?? '', callID, input }
}

/** Shows the client a call of its frontend tool. The client has no way to answer, so this waits until it disconnects (GA 7.9). */
async function waitForClient({ id, toolCall }: ToolRequest, { reply, signal }: ToolRunDeps): Promise<never> {
  await reply.sendMessage(newMessage('assistant', [{ type: 'frontendToolRequest', id, toolCall }]))
  return abortable(signal, () => () => undefined)
}
