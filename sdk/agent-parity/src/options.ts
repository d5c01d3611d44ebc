// The options of a scenario, as the published SDK takes them.
import {
  createSdkMcpServer, tool, type HookCallback, type McpServerConfig, type Options, type SdkMcpToolDefinition,
} from '@anthropic-ai/claude-agent-sdk'
import { z, type ZodType } from 'zod'
import { type DoHook, type DoPermission, type DoTool, runHook, runPermission, runTool, seen } from './handlers.js'

type Kind = 'string' | 'number' | 'boolean' | 'any'
interface Tool {
  name: string; description: string; input?: Record<string, Kind>; annotations?: NonNullable<SdkMcpToolDefinition['annotations']>
  alwaysLoad?: boolean; do: DoTool
}
interface InProcess { type?: undefined; name?: string; version?: string; alwaysLoad?: boolean; timeout?: number; tools: Tool[] }
type Server = InProcess | Exclude<McpServerConfig, { type?: 'sdk' }> & { type: string }
interface Matcher { matcher?: string; timeout?: number; onFailure?: 'continue' | 'block'; do: DoHook[] }

/** What a scenario may set. Most names are those of the SDK. */
export interface Settings extends Omit<Options, 'canUseTool' | 'hooks' | 'systemPrompt' | 'tools' | 'mcpServers'> {
  cliPath?: string; tools?: string[] | 'default'; addDirs?: string[]; jsonSchema?: Record<string, unknown>
  noSessionPersistence?: boolean; systemPrompt?: { text?: string; append?: string }
  servers?: Record<string, Server>; canUseTool?: DoPermission[]; hooks?: Record<string, Matcher[]>
  initializeTimeout?: number; requestTimeout?: number; shutdownGrace?: number; killGrace?: number; maxLineBytes?: number
  disableManifests?: boolean
  /** False: each prompt has a process of its own, which continues the session. */
  keepAlive?: boolean
  /** A prompt after a lost process starts one that continues the session. */
  reconnectOnError?: boolean
}

const kinds: Record<Kind, () => ZodType> = { string: z.string, number: z.number, boolean: z.boolean, any: z.any }

function server(key: string, { name = key, tools, ...rest }: InProcess): McpServerConfig {
  const definitions = tools.map(({ input = {}, do: todo, annotations, alwaysLoad, ...t }) => {
    const shape = Object.fromEntries(Object.entries(input).map(([field, kind]) => [field, kinds[kind]()]))
    // The SDK hands on what its MCP server knows of the call, and types it as unknown.
    return tool(t.name, t.description, shape, (args, extra) => runTool(key, t.name, todo, args, extra as Parameters<typeof runTool>[4]),
      { ...(annotations && { annotations }), ...(alwaysLoad && { alwaysLoad }) })
  })
  return createSdkMcpServer({ name, tools: definitions, ...rest })
}

function hook(event: string, todo: DoHook): HookCallback {
  return (input, toolUseID, { signal }) => {
    seen.hooks.push({ event, ...(toolUseID !== undefined && { toolUseID }), input })
    return runHook(event, todo, signal)
  }
}

function permission(answers: DoPermission[]): NonNullable<Options['canUseTool']> {
  const inOrder = answers.filter((answer) => answer.for === undefined)
  let asked = 0
  const next = (tool: string): DoPermission =>
    answers.find((answer) => answer.for === tool) ?? inOrder[Math.min(asked++, inOrder.length - 1)] ?? {}
  return (tool, input, { signal, ...about }) => {
    const { toolUseID, suggestions, blockedPath, decisionReason, title, agentID } = about
    seen.permissions.push({ tool, input, toolUseID, suggestions, blockedPath, decisionReason, title, agentID })
    return runPermission(tool, next(tool), signal)
  }
}

function isInProcess(server: Server): server is InProcess { return server.type === undefined }

/** The options of the SDK. It ignores what it has no option for, such as the times of requests and the size of lines. */
export function options(settings: Settings): Options {
  const {
    cliPath = process.env.CLI ?? '', servers, canUseTool, hooks, systemPrompt, tools, addDirs, jsonSchema, noSessionPersistence, env, ...same
  } = settings
  return {
    ...same,
    pathToClaudeCodeExecutable: cliPath,
    stderr: (data) => { seen.stderr += data },
    ...(env && { env: { ...process.env, ...env } }),
    ...(tools && { tools: tools === 'default' ? { type: 'preset', preset: 'claude_code' } : tools }),
    ...(addDirs && { additionalDirectories: addDirs }),
    ...(jsonSchema && { outputFormat: { type: 'json_schema', schema: jsonSchema } }),
    ...(noSessionPersistence && { persistSession: false }),
    ...(canUseTool && { canUseTool: permission(canUseTool) }),
    ...(hooks && { hooks: Object.fromEntries(Object.entries(hooks).map(([event, matchers]) =>
      [event, matchers.map(({ do: todos, ...matcher }) => ({ ...matcher, hooks: todos.map((todo) => hook(event, todo)) }))])) }),
    ...(servers && { mcpServers: Object.fromEntries(Object.entries(servers).map(([key, s]) => [key, isInProcess(s) ? server(key, s) : s])) }),
    // The SDK's own default is an empty prompt; the one of the CLI is a preset (agent-sdk.md 19).
    systemPrompt: systemPrompt?.text ?? { type: 'preset', preset: 'claude_code', ...(systemPrompt?.append && { append: systemPrompt.append }) },
  }
}
