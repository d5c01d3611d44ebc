import type { ResultError } from '#contract'
import type { ContentOf } from '../../domain/message/content.ts'
import { newMessage } from '../../domain/message/new-message.ts'
import type { ToolCall } from '../../domain/message/result.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Agent } from '../agent/agent.ts'
import { NobodyToAskError, type ClientToolCall, type ClientTools, type RunningReply } from '../client-tools/client-tools.ts'
import type { HookedCall, Hooks } from '../hooks/hooks.ts'
import { Permissions, setPermissions, type Mode } from '../permission/permissions.ts'
import type { ToolGuard } from '../toolguard/tool-guard.ts'

/** A call of a model, and the same call as it is going to run. */
export interface PreparedCall {
  request: ContentOf<'toolRequest'>
  /** The call as the model made it. */
  asked: ToolCall
  /** With converted arguments (M49). */
  call: ToolCall
  /** Set for a call of a client tool. */
  client: ClientToolCall | undefined
}

/** What deciding about calls requires. */
export interface DecisionDeps {
  /** The session of the calls. */
  agent: Agent
  hooks: Hooks
  settings: Settings
  mode: Mode
  toolGuard: ToolGuard
  clientTools: ClientTools
  /** The reply in which the user can be asked. Undefined if there is none. */
  reply: RunningReply | undefined
  signal: AbortSignal
}

/** A call runs, is declined by a person or a setting, or fails without having run. */
export type Decision = 'run' | 'declined' | ResultError

/** A call as hooks have left it, and what was decided about it. */
export interface DecidedCall {
  call: PreparedCall
  decision: Decision
}

const extensionPrompt = 'Extension management requires approval for security'

/**
 * Decides which calls run. A person is asked about one call after the other (GA 7.8, 18.1). All permissions are decided before the
 * first question, so the answer to one question does not decide the next call (M68). The hooks of a call that goose does not ask
 * about come before the first question too (S85). Rejects with a NobodyToAskError if there is no reply in which to ask.
 */
export async function decideCalls(calls: readonly PreparedCall[], deps: DecisionDeps): Promise<DecidedCall[]> {
  const permissions = calls.map((one) => ({ call: one, goose: gooseDecision(one, deps), guards: guardsPermissionOf(one.client, deps) }))
  const plans: (Plan & { hooked?: DecidedCall })[] = []
  for (const plan of permissions) plans.push(plan.goose === 'run' ? { ...plan, hooked: await afterHooks(plan.call, deps) } : plan)
  const decided: DecidedCall[] = []
  for (const { hooked, ...plan } of plans) decided.push(await decide(plan, hooked, deps))
  return decided
}

/** What was decided before the first question. */
interface Plan {
  call: PreparedCall
  goose: 'run' | 'deny' | { prompt: string | null }
  guards: ToolPermission
}

/** The decision of goose: a call that it asks about has a prompt. */
function gooseDecision({ call, asked }: PreparedCall, deps: DecisionDeps): Plan['goose'] {
  const permission = permissionOf(call.name, deps)
  if (permission === 'deny') return 'deny'
  const alert = deps.toolGuard.promptOf(asked)
  if (permission === 'run' && alert === undefined) return 'run'
  return { prompt: alert ?? (asked.name === 'extensionmanager__manage_extensions' ? extensionPrompt : null) }
}

/** First the decision of goose, then the hooks, then the guards of a client tool. They do not ask if goose has asked (CT 11.6 item 4). */
async function decide({ call: given, goose, guards }: Plan, hooked: DecidedCall | undefined, deps: DecisionDeps): Promise<DecidedCall> {
  if (goose === 'deny') return { call: given, decision: 'declined' }
  if (goose !== 'run' && !(await ask(given, given.asked, goose.prompt, deps))) return { call: given, decision: 'declined' }
  const { call, decision } = hooked ?? (await afterHooks(given, deps))
  if (decision !== 'run' || call.client === undefined) return { call, decision }
  const error = await deps.clientTools.check(call.client)
  if (error !== undefined) return { call, decision: { status: 'error', error } }
  if (goose !== 'run' || guards === 'run') return { call, decision }
  const shown = call === given ? given.asked : call.call
  return { call, decision: guards === 'ask' && (await ask(call, shown, null, deps)) ? 'run' : 'declined' }
}

/** The call as its hooks leave it: with the input that they want, or refused (CT 14.6). */
async function afterHooks(call: PreparedCall, deps: DecisionDeps): Promise<DecidedCall> {
  const { input, refusal } = await deps.hooks.before(hookedCall(call, deps.agent), deps.signal)
  const left = input === undefined ? call : { ...call, call: { ...call.call, arguments: input }, client: call.client && { ...call.client, input } }
  return { call: left, decision: refusal === undefined ? 'run' : { status: 'error', error: refusal.reason } }
}

/** A call as its hooks see it. */
export function hookedCall({ request, call: { name, arguments: input = {} }, client }: PreparedCall, { session }: Agent): HookedCall {
  return { tool: name, input, sessionID: session.id, callID: request.id, clientID: client?.tool.clientID }
}

type ToolPermission = 'run' | 'ask' | 'deny'

/** The permission of a tool by the mode and by earlier decisions of a person. */
function permissionOf(name: string, { mode, settings }: DecisionDeps): ToolPermission {
  switch (mode) {
    case 'auto':
      return 'run'
    case 'chat':
      return 'deny'
    case 'approve':
    case 'smart_approve':
      return approvalOf(name, settings)
    default:
      return mode satisfies never
  }
}

/** The permission by the guards of client tools, which find the same earlier decisions as the mode `approve`. */
function guardsPermissionOf(client: ClientToolCall | undefined, { clientTools, settings }: DecisionDeps): ToolPermission {
  return client !== undefined && clientTools.asks(client.tool.id) ? approvalOf(client.tool.name, settings) : 'run'
}

function approvalOf(name: string, settings: Settings): ToolPermission {
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

async function ask(
  { request: { id } }: PreparedCall,
  { name, arguments: args = {} }: ToolCall,
  prompt: string | null,
  { reply, settings, signal }: DecisionDeps,
): Promise<boolean> {
  if (reply === undefined) throw new NobodyToAskError()
  const data = { actionType: 'toolConfirmation', id, toolName: name, arguments: args, prompt } as const
  await reply.sendMessage(newMessage('assistant', [{ type: 'actionRequired', data }], { userVisible: true, agentVisible: false }))
  const action = await reply.waitForDecision(id, signal)
  if (action === 'always_allow') setPermissions(settings, [{ tool_name: name, permission: 'always_allow' }])
  return action === 'always_allow' || action === 'allow_once'
}
