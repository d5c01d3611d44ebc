import type * as contract from '#contract'
import type { McpTool } from '../../domain/extension/config.ts'
import { withQuery, type Operation } from '../../httpapi/operation.ts'
import { isObject } from '../../wire/json/is-object.ts'
import type { Logger } from '../../log.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Agent } from '../../engine/agent/agent.ts'
import type { Agents } from '../../engine/agent/agents.ts'
import { engineTools, platformTools, subRecipeTools } from '../../engine/agent/engine-tools.ts'
import { extensionTools, sortedTools } from '../../engine/agent/extension-tools.ts'
import { Permissions, modeOf } from '../../engine/permission/permissions.ts'

interface ToolListDeps {
  agents: Agents
  settings: Settings
  logger: Logger
}

/** `GET /agent/tools` (GA 6.4): all tools except frontend tools, sorted by the bytes of their names. */
export function listAgentTools(
  { agents, settings, logger }: ToolListDeps,
): Operation<contract.GetToolsData, contract.GetToolsResponses, contract.GetToolsErrors> {
  return withQuery({ session_id: 'required', extension_name: 'optional' }, async ({ query: { session_id: id, extension_name: wanted } }) => {
    const tools = await toolsOf(agents.get(id), wanted, logger)
    const [permissions, mode] = [new Permissions(settings), modeOf(settings)]
    const body = tools.map(({ name, description = '', inputSchema }): contract.ToolInfo => {
      const parameters = isObject(inputSchema.properties) ? Object.keys(inputSchema.properties) : []
      return { name, description, parameters, permission: permissions.shown(mode, name) }
    })
    return { status: 200, body }
  })
}

async function toolsOf(agent: Agent, wanted: string | undefined, logger: Logger): Promise<McpTool[]> {
  const release = agent.use()
  const extensions = await extensionTools(agent, logger, wanted)
  release()
  if (wanted === undefined) return sortedTools([...extensions, ...engineTools(agent.finalOutput), ...subRecipeTools(agent)])
  return sortedTools(wanted === 'platform' ? [...extensions, ...platformTools] : extensions)
}
