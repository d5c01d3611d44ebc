import { engineTools } from '../agent/engine-tools.ts'
import { extensionTools, sortedTools } from '../agent/extension-tools.ts'
import type { ClientTool } from '../client-tools/client-tools.ts'
import { isOfferedName, offeredClientTools } from '../client-tools/offered-client-tools.ts'
import type { Mode } from '../permission/permissions.ts'
import type { McpTool } from '../../domain/extension/config.ts'
import type { FinalOutputSchema } from '../../domain/recipe/json-schema.ts'
import type { ModelConfig } from '../../domain/session/session.ts'
import type { Agent } from '../agent/agent.ts'
import type { ReplyServices } from './reply-services.ts'

/**
 * The names of the frontend tools that models are offered. Calls of other tools are not passed to the client. A name that was
 * offered for a client tool keeps this meaning for the turn (S73).
 */
export function frontendNames({ extensions }: Agent, clientTools: ReadonlyMap<string, ClientTool> = new Map()): ReadonlySet<string> {
  return new Set(extensions.frontendTools().map(({ name }) => name).filter((name) => isOfferedName(name) && !clientTools.has(name)))
}

/** What a turn offers its model. */
export interface Offered {
  tools: McpTool[]
  /** The client tools among them, by name. A call goes to the tool that its name meant when it was offered (S73). */
  clientTools: ReadonlyMap<string, ClientTool>
}

/** The inputs that decide which tools of the engine a turn offers. */
interface Offer {
  config: ModelConfig
  mode: Mode
  finalOutput: FinalOutputSchema | undefined
}

/**
 * The tools that a model with this config is offered: those of the server, sorted by name, and then those of the session's client.
 * If two have the same name, the first one counts (M10).
 */
export async function offeredTools(
  agent: Agent,
  { config, mode, finalOutput }: Offer,
  { clientTools, logger }: Pick<ReplyServices, 'clientTools' | 'logger'>,
): Promise<Offered> {
  const { extensions } = agent
  const all = [
    ...(await extensionTools(agent, logger)),
    ...engineTools(finalOutput).filter(({ name }) => isOffered(name, config, mode)),
    ...extensions.frontendTools(),
  ]
  const withheld = all.map(({ name }) => name).filter((name) => !isOfferedName(name))
  if (withheld.length > 0) {
    logger.warn('tools not offered', { session: agent.session.id, count: withheld.length, first: withheld[0]?.slice(0, 100) })
  }
  const own = sortedTools(all.filter(({ name }) => isOfferedName(name)))
  const ofClient = offeredClientTools(agent.session, clientTools, own.map(({ name }) => name), logger)
  return {
    tools: [...own, ...ofClient.map(({ shown }) => shown)],
    clientTools: new Map(ofClient.map(({ tool }) => [tool.name, tool])),
  }
}

/** Sub-agent tasks are offered only if tools run without questions (GA 18.3). */
function isOffered(name: string, { model_name: model }: ModelConfig, mode: Mode): boolean {
  if (name !== 'dynamic_task__create_task' && name !== 'subagent__execute_task') return true
  return mode === 'auto' && !model.startsWith('gemini')
}

