import { randomUUID } from 'node:crypto'
import { AgentStoppedError, type Agent } from '../agent/agent.ts'
import { unknownTool, type ClientTool, type ClientToolCall, type ClientToolReport, type ClientTools } from '../client-tools/client-tools.ts'
import { clientToolResult } from '../client-tools/result-content.ts'
import type { CallListener } from '../../mcp/client/call-listener.ts'
import type { ServerNotification } from '#contract'
import type { Mode } from '../permission/permissions.ts'
import type { McpTool } from '../../domain/extension/config.ts'
import type { ContentOf } from '../../domain/message/content.ts'
import type { Message } from '../../domain/message/message.ts'
import { textResult, type Result, type ToolCall } from '../../domain/message/result.ts'
import type { ToolContent } from '../../domain/message/tool-content.ts'
import type { Settings } from '../../settings/settings.ts'
import { SessionDeletedError } from '../../store/session-handle.ts'
import { abortable } from '../../abortable.ts'
import { mapConcurrently } from '../../map-concurrently.ts'
import { coerced } from './coerce-arguments.ts'
import { decideCalls, type Decision, type PreparedCall } from './decide-calls.ts'
import type { ToolGuard } from '../toolguard/tool-guard.ts'
import type { Elicitations } from '../pending/elicitations.ts'
import type { FinalOutput } from './final-output.ts'
import type { LargeTexts } from './large-texts.ts'
import { newMessage, newMessageId } from '../../domain/message/new-message.ts'
import { sample } from './sample.ts'
import { save } from '../history/saved-messages.ts'
import { frontendNames, type Offered } from './offered-tools.ts'

type ToolRequest = ContentOf<'toolRequest'>
type ToolResult = Result<ToolContent[]>

/** A tool request, and the id of the message that announced it. */
export interface AnnouncedRequest {
  request: ToolRequest
  messageId: string | null
}

/** What running the tools of a turn requires. */
interface ToolRunDeps {
  agent: Agent
  elicitations: Elicitations
  largeTexts: LargeTexts
  settings: Settings
  mode: Mode
  toolGuard: ToolGuard
  clientTools: ClientTools
  /** What the model was offered. */
  offered: Offered
  finalOutput: FinalOutput
  sendMessage: (message: Message) => Promise<void>
  sendNotification: (requestId: string, notification: ServerNotification) => Promise<void>
  waitForDecision: (id: string, signal: AbortSignal) => Promise<string>
  signal: AbortSignal
}

/** The same, plus what is needed while tools run. */
interface RunningDeps extends ToolRunDeps {
  /** Aborts all running calls, with this reason. */
  giveUp: (reason: Error) => void
}

const declined = 'The user has declined this tool call. Do not try it again.'
const notInChat = 'Tools do not run in chat mode. Explain what you would do with this call.'
const maxPendingNotifications = 16
/** How many tools of one answer run at the same time (M67). */
const maxRunning = 64

/**
 * Runs the tools that a model has called, and asks a person first where necessary (GA 7.8). Returns the messages to save: for
 * each request, the call as it ran, and its result.
 */
export async function runTools(requests: readonly AnnouncedRequest[], given: ToolRunDeps): Promise<Message[]> {
  const over = new AbortController()
  const deps: RunningDeps = { ...given, signal: AbortSignal.any([given.signal, over.signal]), giveUp: (reason) => { over.abort(reason) } }
  const frontend = frontendNames(deps.agent, deps.offered.clientTools)
  const calls = requests.flatMap((announced) => prepared(announced, deps) ?? [])
  for (const { request, call } of calls) if (frontend.has(call.name)) await waitForClient(request, deps)
  const decisions = await decideCalls(calls, deps)
  const results = await mapConcurrently(maxRunning, calls, (call, index) => resultOf(call, decisions[index] ?? 'declined', deps))
  const saved: Message[] = []
  for (const [index, { request, call }] of calls.entries()) {
    const result = results[index] ?? { status: 'error', error: '-32603: no result' }
    const response = newMessage('user', [{ type: 'toolResponse', id: request.id, toolResult: result }], undefined, newMessageId())
    await deps.sendMessage(response)
    const ran: ToolRequest = { ...request, toolCall: { status: 'success', value: call } }
    saved.push(newMessage('assistant', [ran], undefined, newMessageId()), response)
  }
  return saved
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

function converted(call: ToolCall, tools: readonly McpTool[]): ToolCall {
  const tool = tools.find(({ name }) => name === call.name)
  return tool === undefined || call.arguments === undefined ? call : { ...call, arguments: coerced(call.arguments, tool.inputSchema) }
}

/** Shows the client a call of its frontend tool. The client has no way to answer, so this waits until it disconnects (GA 7.9). */
async function waitForClient({ id, toolCall }: ToolRequest, { sendMessage, signal }: ToolRunDeps): Promise<never> {
  await sendMessage(newMessage('assistant', [{ type: 'frontendToolRequest', id, toolCall }]))
  return abortable(signal, () => () => undefined)
}

async function resultOf(call: PreparedCall, decision: Decision, deps: RunningDeps): Promise<ToolResult> {
  if (deps.mode === 'chat') return textResult(notInChat)
  if (decision === 'declined') return textResult(declined)
  if (decision !== 'run') return clientToolResult(decision)
  return deps.largeTexts.moved(await run(call, deps), deps.agent.session)
}

async function run({ request: { id }, call: { name, arguments: args = {} }, client }: PreparedCall, deps: RunningDeps): Promise<ToolResult> {
  if (client !== undefined) return runClientTool(client, deps)
  if (name === 'recipe__final_output') return deps.finalOutput.give(args, deps.signal)
  const result = await deps.agent.extensions.call(name, args, listenerOf(id, deps), deps.signal)
  if (result !== undefined) return result
  if (notBuilt.includes(name)) return { status: 'error', error: `-32603: ${name} is not built on this server` }
  return { status: 'error', error: unknownTool(name) }
}

/** The call ends with its reply, or when its agent is stopped; a stopped agent does not end the reply (CT 11.6 item 8). */
async function runClientTool(call: ClientToolCall, deps: RunningDeps): Promise<ToolResult> {
  const { clientTools, agent, signal } = deps
  const { onNotification } = listenerOf(call.callID, deps)
  const onProgress = (report: ClientToolReport): void => {
    onNotification({ method: 'notifications/progress', params: { progressToken: call.callID, ...report } }) // S77
  }
  try {
    return await clientToolResult(await clientTools.execute(call, onProgress, AbortSignal.any([signal, agent.stopped])))
  } catch (error) {
    if (!(error instanceof AgentStoppedError)) throw error
    return { status: 'error', error: error.message }
  }
}

/** Tools that models are offered, but that this server does not implement (M45). */
const notBuilt = ['platform__manage_schedule', 'dynamic_task__create_task', 'subagent__execute_task']

/** Forwards the notifications and questions of a call. If too many notifications wait, more are dropped (GA 18.4). */
function listenerOf(requestId: string, deps: RunningDeps): CallListener {
  let pending = 0
  return {
    requestId,
    onNotification: (notification) => {
      if (pending === maxPendingNotifications) return
      pending++
      const done = (): void => {
        pending--
      }
      deps.sendNotification(requestId, notification).then(done, done) // a failure means that the client has disconnected
    },
    elicit: (message, schema, signal) => elicit(message, schema, { ...deps, signal: AbortSignal.any([deps.signal, signal]) }),
    sample: (request, signal) => sample(deps.agent.provider, request, AbortSignal.any([deps.signal, signal])),
  }
}

/** Sends a tool's question to the person at once (GA 8.3). The question is saved. */
async function elicit(message: string, schema: unknown, { agent, elicitations, sendMessage, signal, giveUp }: RunningDeps): Promise<unknown> {
  const id = randomUUID()
  const data = { actionType: 'elicitation', id, message, requested_schema: schema } as const
  const question = newMessage('assistant', [{ type: 'actionRequired', data }])
  const { session } = agent
  const answer = elicitations.wait(session, id, signal)
  answer.catch(() => undefined) // avoids an unhandled rejection if a step before the `await` below fails
  try {
    await save(session, [question])
  } catch (error) {
    if (error instanceof SessionDeletedError) giveUp(error)
    throw error
  }
  await sendMessage(question)
  return answer
}
