import { withMember } from '../../wire/json/ordered.ts'
import { squeezed } from '../../text/white-space.ts'
import type { Settings } from '../../settings/settings.ts'
import type { SessionHandle } from '../../store/session-handle.ts'
import { ToolError, type Arguments } from './arguments.ts'
import { normalisedKey, type ExtensionConfig, type McpTool } from '../../domain/extension/config.ts'
import { configuredExtensions } from '../../domain/extension/configured.ts'
import { ExtensionError } from '../client/connection.ts'
import type { ManagedExtensions } from './managed-extensions.ts'
import type { PlatformExtension } from './platform-connection.ts'
import { resourceTools } from './resources.ts'
import { compareBytes } from '../../text/compare-bytes.ts'

interface ManagerDeps {
  session: SessionHandle
  extensions: ManagedExtensions
  settings: Settings
}

const search: McpTool = {
  name: 'search_available_extensions',
  description: 'Lists the extensions that can be enabled and disabled.',
  inputSchema: { type: 'object', properties: {} },
}

const manage: McpTool = {
  name: 'manage_extensions',
  description: 'Enables or disables an extension in this session.',
  inputSchema: {
    type: 'object',
    properties: { action: { type: 'string', enum: ['enable', 'disable'] }, extension_name: { type: 'string' } },
    required: ['action', 'extension_name'],
  },
}

/** Lets the model enable and disable extensions (X32 to X35). */
export function extensionManager(deps: ManagerDeps): PlatformExtension {
  return {
    instructions: () => 'The tools of this extension find, enable and disable other extensions.',
    tools: [
      { tool: search, run: () => available(deps) },
      { tool: manage, run: (args, signal) => change(args, deps, signal) },
      ...resourceTools(deps.extensions),
    ],
  }
}

/** The extensions that can be enabled, by key. If several have the same key, the first one counts (X32). */
function configured(settings: Settings): Map<string, ExtensionConfig> {
  const byKey = new Map<string, ExtensionConfig>()
  for (const { config } of configuredExtensions(settings)) {
    const key = normalisedKey(config.name)
    if (!byKey.has(key)) byKey.set(key, config)
  }
  return byKey
}

/** Runs the tool `search_available_extensions` (X33). */
function available({ extensions, settings }: ManagerDeps): string {
  const loaded = extensions.loaded()
  const keys = new Set(loaded.map(({ key }) => key))
  const toEnable = [...configured(settings)]
    .filter(([key]) => !keys.has(key))
    .sort(([a], [b]) => compareBytes(a, b))
    .map(([, { name, description }]) => `- ${name} - ${squeezed(description)}\n`)
  const toDisable = loaded.filter(({ config }) => config.type !== 'frontend').map(({ config }) => `- ${config.name}\n`)
  const enabling = toEnable.length === 0 ? 'No extensions available to enable.\n' : `Extensions available to enable:\n${toEnable.join('')}`
  return `${enabling}\n\nExtensions available to disable:\n${toDisable.join('')}`
}

/** Runs the tool `manage_extensions` (X34). */
async function change(args: Arguments, deps: ManagerDeps, signal: AbortSignal): Promise<string> {
  const action = args.text('action')
  if (action !== 'enable' && action !== 'disable') throw new ToolError('Invalid argument: action')
  const name = args.text('extension_name')
  await (action === 'enable' ? enable(name, deps, signal) : disable(name, deps))
  remember(deps)
  return `The extension '${name}' has been ${action === 'enable' ? 'installed' : 'disabled'} successfully`
}

async function enable(name: string, { extensions, settings }: ManagerDeps, signal: AbortSignal): Promise<void> {
  const config = configured(settings).get(normalisedKey(name))
  if (config === undefined) throw failed(`Extension '${name}' not found. Please check the extension name and try again.`)
  try {
    await extensions.add(config, signal)
  } catch (cause) {
    if (cause instanceof ExtensionError) throw failed(cause.message, cause)
    throw cause
  }
}

async function disable(name: string, { extensions }: ManagerDeps): Promise<void> {
  const key = normalisedKey(name)
  const loaded = extensions.loaded().find((one) => one.key === key)
  if (loaded?.config.type === 'frontend') throw failed(`Extension cannot be disabled: ${name}`)
  if (loaded !== undefined) await extensions.remove(name)
}

function failed(reason: string, cause?: unknown): ToolError {
  return new ToolError(`Extension operation failed: ${reason}`, { cause })
}

/** Stores the list of extensions in the session, if there is one. */
function remember({ session, extensions }: ManagerDeps): void {
  const before = session.find()
  if (before === undefined) return
  const enabled = { extensions: extensions.loaded().map(({ config }) => config) }
  session.update({ extension_data: withMember(before.extension_data, 'enabled_extensions.v0', enabled) })
}
