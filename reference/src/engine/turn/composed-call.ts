import type { McpTool } from '../../domain/extension/config.ts'
import type { Result } from '../../domain/message/result.ts'
import type { ToolContent } from '../../domain/message/tool-content.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import type { Agent } from '../agent/agent.ts'
import { NobodyToAskError, type RunningReply } from '../client-tools/client-tools.ts'
import { UnreadablePermissionsError, modeOf } from '../permission/permissions.ts'
import { ToolGuard } from '../toolguard/tool-guard.ts'
import { converted } from './coerce-arguments.ts'
import { decideCalls, type PreparedCall } from './decide-calls.ts'
import { FinalOutput } from './final-output.ts'
import type { ReplyServices } from './reply-services.ts'
import { runCall, type CallDeps } from './run-call.ts'

/** A call of a server tool by a client, while a call of its own tool runs. */
export interface ComposedCall {
  id: string
  name: string
  input: JsonObject
  agent: Agent
  /** The tools of the server. */
  tools: readonly McpTool[]
  /** The reply that runs the call of the client's tool; undefined if none does. */
  reply: RunningReply | undefined
}

/** Decides about a call and runs it as if the model had made it (CT 14.3, S81). Rejects if the signal is aborted. */
export async function runComposedCall(
  { id, name, input, agent, tools, reply }: ComposedCall,
  services: ReplyServices,
  signal: AbortSignal,
): Promise<Result<ToolContent[]>> {
  const over = new AbortController()
  const { settings, logger } = services
  const finalOutput = new FinalOutput(services.recipeWorker)
  finalOutput.wanted = agent.finalOutput
  const deps: CallDeps = {
    ...services,
    agent,
    reply,
    mode: modeOf(settings),
    toolGuard: new ToolGuard(settings, logger),
    finalOutput: reply?.finalOutput ?? finalOutput,
    giveUp: (reason) => {
      over.abort(reason)
    },
    signal: AbortSignal.any([signal, over.signal]),
  }
  const asked = { name, arguments: input }
  const request: PreparedCall['request'] = { type: 'toolRequest', id, toolCall: { status: 'success', value: asked } }
  const call: PreparedCall = { request, asked, call: converted(asked, tools), client: undefined }
  try {
    const [decided = { call, decision: 'declined' }] = await decideCalls([call], deps)
    return await runCall(decided, deps)
  } catch (error) {
    if (error instanceof UnreadablePermissionsError) logger.warn('call not decided', { session: agent.session.id, err: error })
    else if (!(error instanceof NobodyToAskError)) throw error
    return { status: 'error', error: error.message }
  }
}
