import type { ToolContent } from '../../domain/message/tool-content.ts'
import { ToolError } from './arguments.ts'
import { normalisedKey, type McpTool } from '../../domain/extension/config.ts'
import type { ResourceServer } from '../client/connection.ts'
import { limitedLines } from './limited-lines.ts'
import type { LoadedExtension, ManagedExtensions } from './managed-extensions.ts'
import type { PlatformAnswer, PlatformTool } from './platform-connection.ts'

const extensionName = { type: 'string', description: 'The extension to ask; all if it is left out' }

const listResources: McpTool = {
  name: 'list_resources',
  description: 'Lists the resources of extensions.',
  inputSchema: { type: 'object', properties: { extension_name: extensionName } },
}

const readResource: McpTool = {
  name: 'read_resource',
  description: 'Reads a resource of an extension.',
  inputSchema: { type: 'object', properties: { uri: { type: 'string' }, extension_name: extensionName }, required: ['uri'] },
}

/** The tools that list and read the resources of extensions. They are offered while an extension has resources (X35). */
export function resourceTools(extensions: Pick<ManagedExtensions, 'loaded'>): PlatformTool[] {
  const isOffered = (): boolean => serversOf(extensions.loaded()).length > 0
  return [
    {
      tool: listResources,
      isOffered,
      run: async (args, signal) => list(serversOf(asked(extensions, args.optionalText('extension_name') ?? args.optionalText('extension'))), signal),
    },
    {
      tool: readResource,
      isOffered,
      run: async (args, signal) => {
        const uri = args.text('uri')
        const name = args.optionalText('extension_name')
        const servers = serversOf(asked(extensions, name))
        return name === undefined ? readAny(servers, uri, signal) : readOne(servers[0], uri, signal)
      },
    },
  ]
}

interface KeyedServer {
  key: string
  server: ResourceServer
}

function serversOf(loaded: readonly LoadedExtension[]): KeyedServer[] {
  return loaded.flatMap(({ key, resources }) => (resources === undefined ? [] : [{ key, server: resources }]))
}

/** The extension with this name, or all extensions without a name. */
function asked(extensions: Pick<ManagedExtensions, 'loaded'>, name: string | undefined): LoadedExtension[] {
  const loaded = extensions.loaded()
  if (name === undefined) return loaded
  const one = loaded.find(({ key }) => key === normalisedKey(name))
  if (one === undefined) throw new ToolError(`Extension not found: ${name}`)
  return [one]
}

async function list(servers: readonly KeyedServer[], signal: AbortSignal): Promise<string> {
  const lines = await Promise.all(
    servers.map(async ({ key, server }) => {
      const listed = await server.list(signal)
      if (listed.status === 'error') return [`${key}: ${listed.error}`]
      return listed.value.map(({ uri, name }) => `${key} - ${name}, uri: (${uri})`)
    }),
  )
  const all = lines.flat()
  return all.length === 0 ? 'No resources.' : limitedLines(all)
}

/** Asks the servers one after the other until one has the resource. */
async function readAny(servers: readonly KeyedServer[], uri: string, signal: AbortSignal): Promise<PlatformAnswer> {
  for (const { server } of servers) {
    const answer = await server.read(uri, signal)
    if (answer.status === 'success') return { status: 'success', value: answer.value.map((item) => written(item, uri)) }
  }
  throw new ToolError(`Resource not found: ${uri}`)
}

async function readOne(from: KeyedServer | undefined, uri: string, signal: AbortSignal): Promise<PlatformAnswer> {
  if (from === undefined) throw new ToolError(`Resource not found: ${uri}`)
  const answer = await from.server.read(uri, signal)
  if (answer.status === 'error') throw new ToolError(`Cannot read ${uri}: ${answer.error}`)
  return { status: 'success', value: answer.value.map((item) => written(item, uri)) }
}

/** One content, in the form in which models read it. */
function written(item: ToolContent, uri: string): ToolContent {
  const text = item.type === 'resource' && 'text' in item.resource ? item.resource.text : '[binary]'
  return { type: 'text', text: `${uri}\n\n${text}` }
}
