import type { McpTool } from '../../domain/extension/config.ts'
import type { Logger } from '../../log.ts'
import type { Agent } from './agent.ts'
import { compareBytes } from '../../text/compare-bytes.ts'

/** The prefixed tools of one extension, or of all extensions in the order of their keys. Empty if one of them fails (GA 6.4). */
export async function extensionTools(agent: Agent, logger: Logger, wanted?: string): Promise<McpTool[]> {
  try {
    const asked = [...(await agent.extensions.tools(wanted))].sort(([a], [b]) => compareBytes(a, b))
    return asked.flatMap(([key, tools]) => tools.map((tool) => ({ ...tool, name: `${key}__${tool.name}` })))
  } catch (err) {
    logger.warn('tools not listed', { session: agent.session.id, err })
    return []
  }
}

/** Tools sorted by name. If several have the same name, the first one counts (M10). */
export function sortedTools(tools: readonly McpTool[]): McpTool[] {
  const byName = new Map<string, McpTool>()
  for (const tool of tools) if (!byName.has(tool.name)) byName.set(tool.name, tool)
  return [...byName.values()].sort((a, b) => compareBytes(a.name, b.name))
}
