import { randomUUID } from 'node:crypto'
import { AgentStoppedError } from '../agent/agent.ts'
import {
  NobodyToAskError, unknownTool, type ClientToolCall, type ClientToolOutcome, type ClientToolReport, type RunningReply,
} from '../client-tools/client-tools.ts'
import { clientToolResult } from '../client-tools/result-content.ts'
import type { CallListener } from '../../mcp/client/call-listener.ts'
import { newMessage } from '../../domain/message/new-message.ts'
import { textResult, type Result } from '../../domain/message/result.ts'
import type { ToolContent } from '../../domain/message/tool-content.ts'
import { SessionDeletedError } from '../../store/session-handle.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import { hookedCall, type DecidedCall, type DecisionDeps, type PreparedCall } from './decide-calls.ts'
import type { Elicitations } from '../pending/elicitations.ts'
import type { LargeTexts } from './large-texts.ts'
import { sample } from './sample.ts'
import { save } from '../history/saved-messages.ts'

type ToolResult = Result<ToolContent[]>

/** What deciding about a call and running it requires. */
export interface CallDeps extends DecisionDeps {
  elicitations: Elicitations
  largeTexts: LargeTexts
  finalOutput: RunningReply['finalOutput']
  /** Aborts all running calls, with this reason. */
  giveUp: (reason: Error) => void
  telemetry: Telemetry | undefined
  /** Called if an MCP server marks its result as an error. */
  onErrorResult?: (() => void) | undefined
}

const declined = 'The user has declined this tool call. Do not try it again.'
const notInChat = 'Tools do not run in chat mode. Explain what you would do with this call.'
const maxPendingNotifications = 16

/** Runs a call if that was decided, and returns the result that the model gets (GA 7.8). Rejects if the signal is aborted. */
export async function runCall({ call, decision }: DecidedCall, deps: CallDeps): Promise<ToolResult> {
  if (deps.mode === 'chat') return textResult(notInChat)
  if (decision === 'declined') return textResult(declined)
  if (decision !== 'run') return clientToolResult(decision)
  return deps.largeTexts.moved(await run(call, deps), deps.agent.session)
}

/** Runs a call, and then its hooks. A call that does not reach a tool has none (S86). */
async function run(call: PreparedCall, deps: CallDeps): Promise<ToolResult> {
  const after: AfterHooks = (status, text) => deps.hooks.after(hookedCall(call, deps.agent), { status, text }, deps.signal)
  if (call.client !== undefined) return clientToolResult(await outcomeAfter(await runClientTool(call.client, deps), after))
  const { name } = call.call
  if (deps.agent.extensions.isWithheld(name)) return { status: 'error', error: unknownTool(`Tool not available: ${name}`) }
  const result = await runServerTool(call, deps)
  return result === undefined ? { status: 'error', error: unknownTool(name) } : resultAfter(result, after)
}

/** The text with which the hooks replace another. */
type AfterHooks = (status: 'success' | 'error', text: string) => Promise<string | undefined>

async function outcomeAfter(outcome: ClientToolOutcome, after: AfterHooks): Promise<ClientToolOutcome> {
  switch (outcome.status) {
    case 'success': {
      const { output } = outcome.result
      return { ...outcome, result: { ...outcome.result, output: (await after('success', output)) ?? output } }
    }
    case 'error':
      return { ...outcome, error: (await after('error', outcome.error)) ?? outcome.error }
    case 'refused':
      return outcome
    default:
      return outcome satisfies never
  }
}

/** The first text has what the hooks say, and the other texts go. */
async function resultAfter(result: ToolResult, after: AfterHooks): Promise<ToolResult> {
  if (result.status === 'error') return { ...result, error: (await after('error', result.error)) ?? result.error }
  const texts = result.value.filter((item) => item.type === 'text')
  const text = await after('success', texts.map((item) => item.text).join('\n'))
  if (text === undefined) return result
  const [first] = texts
  if (first === undefined) return { ...result, value: [{ type: 'text', text }, ...result.value] }
  const kept = result.value.filter((item) => item === first || item.type !== 'text')
  return { ...result, value: kept.map((item) => (item === first ? { ...first, text } : item)) }
}

/** Undefined if there is no such tool. */
async function runServerTool({ request: { id }, call: { name, arguments: args = {} } }: PreparedCall, deps: CallDeps): Promise<ToolResult | undefined> {
  if (name === 'recipe__final_output') return deps.finalOutput.give(args, deps.signal)
  const result = await callExtension(id, name, args, deps)
  if (result === undefined && notBuilt.includes(name)) return { status: 'error', error: `-32603: ${name} is not built on this server` }
  return result
}

/** Undefined if no extension has such a tool. A tool that asks a person fails outside of a reply (S81). */
async function callExtension(id: string, name: string, args: JsonObject, deps: CallDeps): Promise<ToolResult | undefined> {
  const unanswered = new AbortController()
  const listener = listenerOf(id, deps, (reason) => {
    unanswered.abort(reason)
  })
  try {
    return await deps.agent.extensions.call(name, args, listener, AbortSignal.any([deps.signal, unanswered.signal]))
  } catch (error) {
    if (!(error instanceof NobodyToAskError)) throw error
    return { status: 'error', error: error.message }
  }
}

/** The call ends with its reply, or when its agent is stopped; a stopped agent does not end the reply (CT 11.6 item 8). */
async function runClientTool(call: ClientToolCall, deps: CallDeps): Promise<ClientToolOutcome> {
  const { clientTools, agent, reply, signal } = deps
  const wasStopped = agent.stopped.aborted
  const { onNotification } = listenerOf(call.callID, deps, deps.giveUp)
  const onProgress = (report: ClientToolReport): void => {
    onNotification({ method: 'notifications/progress', params: { progressToken: call.callID, ...report } }) // S77
  }
  try {
    return await clientTools.execute(call, { onProgress, reply }, AbortSignal.any([signal, agent.stopped]))
  } catch (error) {
    if (!(error instanceof AgentStoppedError)) throw error
    return { status: wasStopped ? 'refused' : 'error', error: error.message }
  }
}

/** Tools that models are offered, but that this server does not implement (M45). */
const notBuilt = ['platform__manage_schedule', 'dynamic_task__create_task', 'subagent__execute_task']

/** Forwards the notifications and questions of a call. If too many notifications wait, more are dropped (GA 18.4). */
function listenerOf(requestId: string, deps: CallDeps, end: (reason: Error) => void): CallListener {
  let pending = 0
  const place = deps.reply?.place ?? deps.telemetry?.here(deps.agent.session.id)
  return {
    requestId,
    onErrorResult: deps.onErrorResult,
    onNotification: (notification) => {
      if (pending === maxPendingNotifications || deps.reply === undefined) return
      pending++
      const done = (): void => {
        pending--
      }
      deps.reply.sendNotification(requestId, notification).then(done, done) // a failure means that the client has disconnected
    },
    elicit: async (message, schema, signal) => {
      const { reply } = deps
      if (reply !== undefined) return elicit(message, schema, { ...deps, reply, signal: AbortSignal.any([deps.signal, signal]) })
      const error = new NobodyToAskError()
      end(error)
      throw error
    },
    sample: (request, signal) => {
      const { provider } = deps.agent
      const either = AbortSignal.any([deps.signal, signal])
      // The server's request arrives where its connection was opened.
      return place === undefined ? sample(provider, request, either) : place(() => sample(provider, request, either))
    },
  }
}

/** Sends a tool's question to the person at once (GA 8.3). The question is saved. */
async function elicit(
  message: string,
  schema: unknown,
  { agent, elicitations, reply, signal, giveUp }: CallDeps & { reply: RunningReply },
): Promise<unknown> {
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
  await reply.sendMessage(question)
  return answer
}
