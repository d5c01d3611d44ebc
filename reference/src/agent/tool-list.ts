import type { Handler } from 'hono'
import type { McpTool } from '../extensions/config.ts'
import { readQuery } from '../http/query.ts'
import { json } from '../http/respond.ts'
import { isObject } from '../json/is-object.ts'
import type { Logger } from '../log.ts'
import type { Settings } from '../settings/settings.ts'
import type { Agent } from './agent.ts'
import type { Agents } from './agents.ts'
import { engineTools, platformTools, subRecipeTools } from './engine-tools.ts'
import { extensionTools, sortedTools } from './extension-tools.ts'
import { Permissions, modeOf } from './permissions.ts'
import type { PermissionLevel } from './permissions.ts'

/** A tool as clients list it (GA 4.13). */
interface ToolInfo {
  name: string
  description: string
  parameters: string[]
  permission: PermissionLevel | null
}

export interface ToolListParts {
  agents: Agents
  settings: Settings
  logger: Logger
}

/** `GET /agent/tools` (GA 6.4): without frontend tools, sorted by the bytes of their names. */
export function listAgentTools({ agents, settings, logger }: ToolListParts): Handler {
  return async (c) => {
    const { session_id: id, extension_name: wanted } = readQuery(c.req.raw.url, ['session_id'], ['extension_name'])
    const tools = await toolsOf(agents.get(id), wanted, logger)
    const [permissions, mode] = [new Permissions(settings), modeOf(settings)]
    return json(200, tools.map(({ name, description = '', inputSchema }): ToolInfo => {
      const parameters = isObject(inputSchema.properties) ? Object.keys(inputSchema.properties) : []
      return { name, description, parameters, permission: permissions.shown(mode, name) }
    }))
  }
}

async function toolsOf(agent: Agent, wanted: string | undefined, logger: Logger): Promise<McpTool[]> {
  const release = agent.use()
  const extensions = await extensionTools(agent, logger, wanted)
  release()
  if (wanted === undefined) return sortedTools([...extensions, ...engineTools(agent.finalOutput), ...subRecipeTools(agent)])
  return sortedTools(wanted === 'platform' ? [...extensions, ...platformTools] : extensions)
}
