import { engineTools } from '../agent/engine-tools.ts'
import { extensionTools, sortedTools } from '../agent/extension-tools.ts'
import type { Mode } from '../permission/permissions.ts'
import type { McpTool } from '../../domain/extension/config.ts'
import type { Logger } from '../../log.ts'
import type { FinalOutputSchema } from '../../domain/recipe/json-schema.ts'
import type { ModelConfig } from '../../domain/session/session.ts'
import type { Agent } from '../agent/agent.ts'

/** The tool names that providers accept. They reject the whole request if a name does not match (M70). */
const offeredName = /^[A-Za-z0-9_-]{1,64}$/

/** The names of the frontend tools that models are offered. Calls of other tools are not passed to the client. */
export function frontendNames({ extensions }: Agent): ReadonlySet<string> {
  return new Set(extensions.frontendTools().map(({ name }) => name).filter((name) => offeredName.test(name)))
}

/** The inputs that decide which tools of the engine a turn offers. */
interface Offer {
  config: ModelConfig
  mode: Mode
  finalOutput: FinalOutputSchema | undefined
}

/** The tools that a model with this config is offered, sorted by name. If two have the same name, the first one counts (M10). */
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

/** Sub-agent tasks are offered only if tools run without questions (GA 18.3). */
function isOffered(name: string, { model_name: model }: ModelConfig, mode: Mode): boolean {
  if (name !== 'dynamic_task__create_task' && name !== 'subagent__execute_task') return true
  return mode === 'auto' && !model.startsWith('gemini')
}

