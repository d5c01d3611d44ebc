import type { ResultError } from '#contract'
import type { ContentOf } from '../../domain/message/content.ts'
import { newMessage } from '../../domain/message/new-message.ts'
import type { ToolCall } from '../../domain/message/result.ts'
import type { Settings } from '../../settings/settings.ts'
import { NobodyToAskError, type ClientToolCall, type ClientTools, type RunningReply } from '../client-tools/client-tools.ts'
import { Permissions, setPermission, type Mode } from '../permission/permissions.ts'
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

const extensionPrompt = 'Extension management requires approval for security'

/**
 * Decides which calls run. A person is asked about one call after the other (GA 7.8, 18.1). All permissions are decided before the
 * first question, so the answer to one question does not decide the next call (M68). Rejects with a NobodyToAskError if there is no
 * reply in which to ask.
 */
export async function decideCalls(calls: readonly PreparedCall[], deps: DecisionDeps): Promise<Decision[]> {
  const permissions = calls.map(({ call, client }) => [permissionOf(call.name, deps), guardsPermissionOf(client, deps)] as const)
  const decisions: Decision[] = []
  for (const [index, call] of calls.entries()) {
    const [permission, guardsPermission] = permissions[index] ?? ['deny', 'deny']
    decisions.push(await decide(call, permission, guardsPermission, deps))
  }
  return decisions
}

/** First the decision of goose, then the guards of a client tool. They do not ask if goose has asked (CT 11.6 item 4). */
async function decide(one: PreparedCall, permission: ToolPermission, guardsPermission: ToolPermission, deps: DecisionDeps): Promise<Decision> {
  const { asked, client } = one
  if (permission === 'deny') return 'declined'
  const alert = deps.toolGuard.promptOf(asked)
  const isAsked = permission === 'ask' || alert !== undefined
  if (isAsked) {
    const prompt = alert ?? (asked.name === 'extensionmanager__manage_extensions' ? extensionPrompt : null)
    if (!(await ask(one, prompt, deps))) return 'declined'
  }
  if (client === undefined) return 'run'
  const error = await deps.clientTools.check(client)
  if (error !== undefined) return { status: 'error', error }
  if (isAsked || guardsPermission === 'run') return 'run'
  return guardsPermission === 'ask' && (await ask(one, null, deps)) ? 'run' : 'declined'
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

async function ask({ request: { id }, asked }: PreparedCall, prompt: string | null, { reply, settings, signal }: DecisionDeps): Promise<boolean> {
  if (reply === undefined) throw new NobodyToAskError()
  const data = { actionType: 'toolConfirmation', id, toolName: asked.name, arguments: asked.arguments ?? {}, prompt } as const
  await reply.sendMessage(newMessage('assistant', [{ type: 'actionRequired', data }], { userVisible: true, agentVisible: false }))
  const action = await reply.waitForDecision(id, signal)
  if (action === 'always_allow') setPermission(settings, asked.name, 'always_allow')
  return action === 'always_allow' || action === 'allow_once'
}
