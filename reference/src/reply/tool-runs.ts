import { randomUUID } from 'node:crypto'
import { Permissions, setPermission } from '../agent/permissions.ts'
import type { Mode } from '../agent/permissions.ts'
import type { McpTool } from '../extensions/config.ts'
import type { ContentOf } from '../message/content.ts'
import type { Message } from '../message/message.ts'
import type { Result, ToolCall } from '../message/result.ts'
import type { ToolContent } from '../message/tool-content.ts'
import type { Settings } from '../settings/settings.ts'
import { SessionGoneError } from '../store/own-session.ts'
import { atOnce } from './at-once.ts'
import { coerced } from './coercion.ts'
import type { DangerCheck } from './dangers.ts'
import type { Elicitations } from './elicitations.ts'
import type { McpNotification } from './events.ts'
import type { FinalOutput } from './final-output.ts'
import type { LargeTexts } from './large-text.ts'
import { newMessage, newMessageId } from './new-message.ts'
import type { CallListener, EngineAgent } from './parts.ts'
import { sample } from './sampling.ts'
import { save } from './saved-messages.ts'
import { frontendNames } from './turn-tools.ts'

type ToolRequest = ContentOf<'toolRequest'>
type ToolResult = Result<ToolContent[]>

/** What a turn knows that runs tools. */
export interface ToolRunParts {
  agent: EngineAgent
  elicitations: Elicitations
  largeTexts: LargeTexts
  settings: Settings
  mode: Mode
  dangers: DangerCheck
  /** The tools that the model was offered. */
  tools: readonly McpTool[]
  finalOutput: FinalOutput
  say: (message: Message) => Promise<void>
  notify: (requestId: string, notification: McpNotification) => Promise<void>
  decided: (id: string, signal: AbortSignal) => Promise<string>
  signal: AbortSignal
}

/** The same, while tools run. */
interface RunningParts extends ToolRunParts {
  /** Ends all that runs, with this reason. */
  giveUp: (reason: Error) => void
}

const declined = 'The user has declined this tool call. Do not try it again.'
const notInChat = 'Tools do not run in chat mode. Explain what you would do with this call.'
const extensionPrompt = 'Extension management requires approval for security'
const maxPendingNotifications = 16
/** How many tools of an answer run at once (M67). */
const maxRunning = 64

/**
 * Runs the tools that a model has asked for, after asking a person where that is necessary (GA 7.8). Returns the messages
 * to save: for each request, the call as it ran, and its result.
 */
export async function runTools(requests: readonly ToolRequest[], given: ToolRunParts): Promise<Message[]> {
  const over = new AbortController()
  const parts: RunningParts = { ...given, signal: AbortSignal.any([given.signal, over.signal]), giveUp: (reason) => { over.abort(reason) } }
  const frontend = frontendNames(parts.agent)
  const calls = requests.flatMap((request) =>
    request.toolCall.status === 'success' ? [{ request, call: converted(request.toolCall.value, parts.tools) }] : [],
  )
  for (const { request, call } of calls) if (frontend.has(call.name)) await waitForClient(request, parts)
  const allowed: boolean[] = []
  // Decided for all before anybody is asked: an answer to one question does not answer the next (M68).
  const permissions = calls.map(({ call }) => permissionOf(call.name, parts))
  for (const [index, { request }] of calls.entries()) allowed.push(await isAllowed(request, permissions[index] ?? 'deny', parts))
  const results = await atOnce(maxRunning, calls, ({ request, call }, index) => resultOf(request, call, allowed[index] === true, parts))
  const saved: Message[] = []
  for (const [index, { request, call }] of calls.entries()) {
    const result = results[index] ?? { status: 'error', error: '-32603: no result' }
    const response = newMessage('user', [{ type: 'toolResponse', id: request.id, toolResult: result }], undefined, newMessageId())
    await parts.say(response)
    const ran: ToolRequest = { ...request, toolCall: { status: 'success', value: call } }
    saved.push(newMessage('assistant', [ran], undefined, newMessageId()), response)
  }
  return saved
}

function converted(call: ToolCall, tools: readonly McpTool[]): ToolCall {
  const tool = tools.find(({ name }) => name === call.name)
  return tool === undefined || call.arguments === undefined ? call : { ...call, arguments: coerced(call.arguments, tool.inputSchema) }
}

/** Shows the client a call of one of its own tools. It has no way to answer, so this waits until it leaves (GA 7.9). */
async function waitForClient({ id, toolCall }: ToolRequest, { say, signal }: ToolRunParts): Promise<never> {
  await say(newMessage('assistant', [{ type: 'frontendToolRequest', id, toolCall }]))
  return new Promise((_, reject) => {
    const leave = (): void => {
      reject(signal.reason as Error) // an abort always has an Error as its reason
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })
}

/** Whether a tool may run, which a person may have to say (GA 18.1). */
async function isAllowed(request: ToolRequest, permission: ToolPermission, parts: RunningParts): Promise<boolean> {
  if (request.toolCall.status === 'error') return false
  const call = request.toolCall.value
  if (permission === 'deny') return false
  const alert = parts.dangers.promptOf(call)
  if (permission === 'run' && alert === undefined) return true
  return ask(request, call, alert ?? (call.name === 'extensionmanager__manage_extensions' ? extensionPrompt : null), parts)
}

type ToolPermission = 'run' | 'ask' | 'deny'

/** What the mode says of a tool, and what a person has said of it before. */
function permissionOf(name: string, { mode, settings }: ToolRunParts): ToolPermission {
  switch (mode) {
    case 'auto':
      return 'run'
    case 'chat':
      return 'deny'
    case 'approve':
    case 'smart_approve':
      break
    default:
      return mode satisfies never
  }
  const level = new Permissions(settings).of('user', name)
  switch (level) {
    case 'always_allow':
      return 'run'
    case 'never_allow':
      return 'deny'
    case 'ask_before':
    case null:
      return 'ask'
    default:
      return level satisfies never
  }
}

async function ask({ id }: ToolRequest, call: ToolCall, prompt: string | null, parts: ToolRunParts): Promise<boolean> {
  const data = { actionType: 'toolConfirmation', id, toolName: call.name, arguments: call.arguments ?? {}, prompt } as const
  await parts.say(newMessage('assistant', [{ type: 'actionRequired', data }], { userVisible: true, agentVisible: false }))
  const action = await parts.decided(id, parts.signal)
  if (action === 'always_allow') setPermission(parts.settings, call.name, 'always_allow')
  return action === 'always_allow' || action === 'allow_once'
}

async function resultOf(request: ToolRequest, call: ToolCall, allowed: boolean, parts: RunningParts): Promise<ToolResult> {
  if (parts.mode === 'chat') return textResult(notInChat)
  if (!allowed) return textResult(declined)
  return parts.largeTexts.moved(await run(request, call, parts), parts.agent.parts.session)
}

export function textResult(text: string): ToolResult {
  return { status: 'success', value: [{ type: 'text', text }] }
}

async function run({ id }: ToolRequest, { name, arguments: args = {} }: ToolCall, parts: RunningParts): Promise<ToolResult> {
  if (name === 'recipe__final_output') return parts.finalOutput.give(args, parts.signal)
  const result = await parts.agent.parts.extensions.call(name, args, listenerOf(id, parts), parts.signal)
  if (result !== undefined) return result
  if (notBuilt.includes(name)) return { status: 'error', error: `-32603: ${name} is not built on this server` }
  return { status: 'error', error: `-32603: -32002: ${name}` }
}

/** Tools of the engine that models are told of (M45). */
const notBuilt = ['platform__manage_schedule', 'dynamic_task__create_task', 'subagent__execute_task']

/** Hands on what a call tells, and puts its questions to the person. What is too much at once is left out (GA 18.4). */
function listenerOf(requestId: string, parts: RunningParts): CallListener {
  let pending = 0
  return {
    requestId,
    notified: (notification) => {
      if (pending === maxPendingNotifications) return
      pending++
      const done = (): void => {
        pending--
      }
      parts.notify(requestId, notification).then(done, done) // a client that has gone is told nothing
    },
    elicit: (message, schema, signal) => elicit(message, schema, { ...parts, signal: AbortSignal.any([parts.signal, signal]) }),
    sample: (request, signal) => sample(parts.agent.parts.model.provider, request, AbortSignal.any([parts.signal, signal])),
  }
}

/** Asks the person at once, and only the one whose tool it is (GA 8.3). The question is saved. */
async function elicit(message: string, schema: unknown, { agent, elicitations, say, signal, giveUp }: RunningParts): Promise<unknown> {
  const id = randomUUID()
  const data = { actionType: 'elicitation', id, message, requested_schema: schema } as const
  const question = newMessage('assistant', [{ type: 'actionRequired', data }])
  const { session } = agent.parts
  const answer = elicitations.wait(session, id, signal)
  answer.catch(() => undefined) // it is awaited below, after what may fail
  try {
    await save(session, [question])
  } catch (error) {
    if (error instanceof SessionGoneError) giveUp(error)
    throw error
  }
  await say(question)
  return answer
}
