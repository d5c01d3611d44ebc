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
import type { ClientTools } from '../../engine/client-tools/client-tools.ts'
import { clientToolsExtension, offeredClientTools } from '../../engine/client-tools/offered-client-tools.ts'
import { frontendNames } from '../../engine/turn/offered-tools.ts'
import { Permissions, modeOf } from '../../engine/permission/permissions.ts'

interface ToolListDeps {
  agents: Agents
  clientTools: ClientTools
  settings: Settings
  logger: Logger
}

/**
 * `GET /agent/tools` (GA 6.4): all tools except frontend tools, sorted by the bytes of their names. The tools of the session's client
 * come last (CT 11.6 item 3).
 */
export function listAgentTools(
  { agents, clientTools, settings, logger }: ToolListDeps,
): Operation<contract.GetToolsData, contract.GetToolsResponses, contract.GetToolsErrors> {
  return withQuery({ session_id: 'required', extension_name: 'optional' }, async ({ query: { session_id: id, extension_name: wanted } }) => {
    const tools = await toolsOf(agents.get(id), wanted, clientTools, logger)
    const [permissions, mode] = [new Permissions(settings), modeOf(settings)]
    const body = tools.map(({ name, description = '', inputSchema }): contract.ToolInfo => {
      const parameters = isObject(inputSchema.properties) ? Object.keys(inputSchema.properties) : []
      return { name, description, parameters, permission: permissions.shown(mode, name) }
    })
    return { status: 200, body }
  })
}

async function toolsOf(agent: Agent, wanted: string | undefined, clientTools: ClientTools, logger: Logger): Promise<McpTool[]> {
  const release = agent.use()
  const extensions = await extensionTools(agent, logger, wanted === clientToolsExtension ? undefined : wanted)
  release()
  if (wanted === 'platform') return sortedTools([...extensions, ...platformTools])
  if (wanted !== undefined && wanted !== clientToolsExtension) return sortedTools(extensions)
  const own = sortedTools([...extensions, ...engineTools(agent.finalOutput), ...subRecipeTools(agent)])
  const names = [...own.map(({ name }) => name), ...frontendNames(agent)]
  const ofClient = offeredClientTools(agent.session, clientTools, names, logger).map(({ shown }) => shown)
  return wanted === undefined ? [...own, ...ofClient] : ofClient
}
