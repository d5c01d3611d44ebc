import type { McpTool } from '../extensions/config.ts'
import type { Logger } from '../log.ts'
import type { Agent } from './agent.ts'

/** The tools of one extension, or of all by the bytes of their keys, with their prefix; none at all if one of them cannot be asked (GA 6.4). */
export async function extensionTools(agent: Agent, logger: Logger, wanted?: string): Promise<McpTool[]> {
  try {
    const all = [...(await agent.parts.extensions.tools())].sort(([a], [b]) => compareBytes(a, b))
    const asked = all.filter(([key]) => wanted === undefined || key === wanted)
    return asked.flatMap(([key, tools]) => tools.map((tool) => ({ ...tool, name: `${key}__${tool.name}` })))
  } catch (err) {
    logger.warn('tools not listed', { session: agent.sessionId, err })
    return []
  }
}

/** Tools sorted by the bytes of their names; of those with one name the first counts (M10). */
export function sortedTools(tools: readonly McpTool[]): McpTool[] {
  const byName = new Map<string, McpTool>()
  for (const tool of tools) if (!byName.has(tool.name)) byName.set(tool.name, tool)
  return [...byName.values()].sort((a, b) => compareBytes(a.name, b.name))
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
