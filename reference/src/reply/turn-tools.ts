import { engineTools } from '../agent/engine-tools.ts'
import type { Mode } from '../agent/permissions.ts'
import type { McpTool } from '../extensions/config.ts'
import type { Logger } from '../log.ts'
import type { ModelConfig } from '../sessions/session.ts'
import type { EngineAgent } from './parts.ts'

/** The tools that a model of this config is offered, sorted by the bytes of their names; of two with one name the first counts (M10). */
export async function toolsOf(agent: EngineAgent, config: ModelConfig, mode: Mode, logger: Logger): Promise<McpTool[]> {
  const { extensions } = agent.parts
  const all = [
    ...(await extensionTools(agent, logger)),
    ...engineTools(agent).filter(({ name }) => isOffered(name, config, mode)),
    ...extensions.frontendTools(),
  ]
  const byName = new Map<string, McpTool>()
  for (const tool of all) if (!byName.has(tool.name)) byName.set(tool.name, tool)
  return [...byName.values()].sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
}

/** None at all if one of the extensions cannot be asked (GA 6.4). */
async function extensionTools(agent: EngineAgent, logger: Logger): Promise<McpTool[]> {
  try {
    const byKey = [...(await agent.parts.extensions.tools())].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    return byKey.flatMap(([key, tools]) => tools.map((tool) => ({ ...tool, name: `${key}__${tool.name}` })))
  } catch (err) {
    logger.warn('tools not listed', { session: agent.sessionId, err })
    return []
  }
}

/** Tasks of sub-agents are for those who need not be asked (GA 18.3). */
function isOffered(name: string, { model_name: model }: ModelConfig, mode: Mode): boolean {
  if (name !== 'dynamic_task__create_task' && name !== 'subagent__execute_task') return true
  return mode === 'auto' && !model.startsWith('gemini')
}

