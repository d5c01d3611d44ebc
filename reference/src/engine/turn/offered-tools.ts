import { engineTools } from '../agent/engine-tools.ts'
import { extensionTools, sortedTools } from '../agent/extension-tools.ts'
import type { Mode } from '../permission/permissions.ts'
import type { McpTool } from '../../domain/extension/config.ts'
import type { Logger } from '../../log.ts'
import type { FinalOutputSchema } from '../../domain/recipe/json-schema.ts'
import type { ModelConfig } from '../../domain/session/session.ts'
import type { Agent } from '../agent/agent.ts'

/** The names that providers accept; they refuse a whole request with any other name (M70). */
const offeredName = /^[A-Za-z0-9_-]{1,64}$/

/** The names of the client's tools that models are offered. Other calls are not for the client. */
export function frontendNames({ extensions }: Agent): ReadonlySet<string> {
  return new Set(extensions.frontendTools().map(({ name }) => name).filter((name) => offeredName.test(name)))
}

/** What decides about the tools of the engine in a turn. */
interface Offer {
  config: ModelConfig
  mode: Mode
  finalOutput: FinalOutputSchema | undefined
}

/** The tools that a model of this config is offered, sorted by name; of two with the same name the first counts (M10). */
export async function toolsOf(agent: Agent, { config, mode, finalOutput }: Offer, logger: Logger): Promise<McpTool[]> {
  const { extensions } = agent
  const all = [
    ...(await extensionTools(agent, logger)),
    ...engineTools(finalOutput).filter(({ name }) => isOffered(name, config, mode)),
    ...extensions.frontendTools(),
  ]
  const withheld = all.map(({ name }) => name).filter((name) => !offeredName.test(name))
  if (withheld.length > 0) {
    logger.warn('tools not offered', { session: agent.session.id, count: withheld.length, first: withheld[0]?.slice(0, 100) })
  }
  return sortedTools(all.filter(({ name }) => offeredName.test(name)))
}

/** Tasks of sub-agents are offered only when tools run without questions (GA 18.3). */
function isOffered(name: string, { model_name: model }: ModelConfig, mode: Mode): boolean {
  if (name !== 'dynamic_task__create_task' && name !== 'subagent__execute_task') return true
  return mode === 'auto' && !model.startsWith('gemini')
}

