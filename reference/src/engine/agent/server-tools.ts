import type { McpTool } from '../../domain/extension/config.ts'
import type { Logger } from '../../log.ts'
import type { Agent } from './agent.ts'
import { engineTools, subRecipeTools } from './engine-tools.ts'
import { extensionTools, sortedTools } from './extension-tools.ts'

/** The tools of the server itself in a session, sorted by name (CT 14.1). */
export async function serverTools(agent: Agent, logger: Logger): Promise<McpTool[]> {
  return sortedTools([...(await extensionTools(agent, logger)), ...engineTools(agent.finalOutput), ...subRecipeTools(agent)])
}
