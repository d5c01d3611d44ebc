import { engineTools } from '../agent/engine-tools.ts'
import { extensionTools, sortedTools } from '../agent/extension-tools.ts'
import type { Mode } from '../agent/permissions.ts'
import type { McpTool } from '../extensions/config.ts'
import type { Logger } from '../log.ts'
import type { FinalOutputSchema } from '../recipe/json-schema.ts'
import type { ModelConfig } from '../sessions/session.ts'
import type { EngineAgent } from './parts.ts'

/** What providers take for a name; they refuse every request that has another one (M70). */
const offeredName = /^[A-Za-z0-9_-]{1,64}$/

/** The names of the client's tools that models are offered. A call of another one is not the client's. */
export function frontendNames({ parts: { extensions } }: EngineAgent): ReadonlySet<string> {
  return new Set(extensions.frontendTools().map(({ name }) => name).filter((name) => offeredName.test(name)))
}

/** What decides about the tools of the engine in a turn. */
interface Offer {
  config: ModelConfig
  mode: Mode
  finalOutput: FinalOutputSchema | undefined
}

/** The tools that a model of this config is offered, sorted by the bytes of their names; of two with one name the first counts (M10). */
export async function toolsOf(agent: EngineAgent, { config, mode, finalOutput }: Offer, logger: Logger): Promise<McpTool[]> {
  const { extensions } = agent.parts
  const all = [
    ...(await extensionTools(agent, logger)),
    ...engineTools(finalOutput).filter(({ name }) => isOffered(name, config, mode)),
    ...extensions.frontendTools(),
  ]
  const withheld = all.map(({ name }) => name).filter((name) => !offeredName.test(name))
  if (withheld.length > 0) {
    logger.warn('tools not offered', { session: agent.sessionId, count: withheld.length, first: withheld[0]?.slice(0, 100) })
  }
  return sortedTools(all.filter(({ name }) => offeredName.test(name)))
}

/** Tasks of sub-agents are for those who need not be asked (GA 18.3). */
function isOffered(name: string, { model_name: model }: ModelConfig, mode: Mode): boolean {
  if (name !== 'dynamic_task__create_task' && name !== 'subagent__execute_task') return true
  return mode === 'auto' && !model.startsWith('gemini')
}

