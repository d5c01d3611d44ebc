import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import {
  CallToolRequestSchema, GetPromptRequestSchema, InitializeRequestSchema, ListPromptsRequestSchema, ListToolsRequestSchema,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js'
import { analyze } from './analyze.ts'
import { failedCall, invalidCall } from './call-error.ts'
import { IgnoreRules } from './ignore-rules.ts'
import { shellName } from './shell-environment.ts'
import { openImage } from './image.ts'
import { LineNotifications } from './line-notifications.ts'
import { runShell } from './shell.ts'
import type { LineListener } from './shell-output.ts'
import { TextEditor } from './text-editor.ts'
import { tools } from './tools.ts'
import { promptOf, unitTest } from './unit-test-prompt.ts'

const serverInfo = { name: 'goose-developer', version: '1.16.0' }
const capabilities = { tools: {}, prompts: {} }
const newestVersion = '2025-03-26'
const versions = ['2024-11-05', newestVersion]

function instructions(): string {
  return [
    'The developer extension works with files and commands on this machine.',
    `Operating system: ${process.platform}`,
    `Current directory: ${process.cwd()}`,
    `Shell: ${shellName()}`,
  ].join('\n')
}

/** What a call may need in addition to its arguments. */
interface CallContext {
  onLine: LineListener
  signal: AbortSignal
}

type Tool = (given: Readonly<Record<string, unknown>>, context: CallContext) => CallToolResult | Promise<CallToolResult>

/** The tools by name. */
function toolsHere(): ReadonlyMap<string, Tool> {
  const rules = new IgnoreRules(process.cwd())
  const editor = new TextEditor(rules)
  return new Map<string, Tool>([
    ['analyze', (given) => analyze(given, rules)],
    ['image_processor', (given) => openImage(given, rules)],
    ['list_windows', () => noDesktop('list windows')],
    ['screen_capture', () => noDesktop('access monitors')],
    ['shell', (given, { onLine, signal }) => runShell(given, rules, onLine, signal)],
    ['text_editor', (given) => editor.run(given)],
  ])
}

function noDesktop(what: string): never {
  throw failedCall(`Failed to ${what}`)
}

/** Serves on the standard streams until the client closes them. */
export async function serveDeveloper(): Promise<void> {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the newer class wants its schemas in zod, and ours are JSON
  const server = new Server(serverInfo, { capabilities, instructions: instructions() })
  const transport = new StdioServerTransport()
  const called = toolsHere()
  server.setRequestHandler(InitializeRequestSchema, ({ params: { protocolVersion } }) => ({
    protocolVersion: versions.includes(protocolVersion) ? protocolVersion : newestVersion,
    capabilities,
    serverInfo,
    instructions: instructions(),
  }))
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: given = {} } }, { signal, _meta: meta }) => {
    const tool = called.get(name)
    if (tool === undefined) throw invalidCall('tool not found')
    const notices = new LineNotifications(transport, meta?.progressToken, signal)
    try {
      const result = await tool(given, { onLine: (line, stream) => { notices.add(line, stream) }, signal })
      await notices.sent()
      return result
    } finally {
      notices.drop()
    }
  })
  server.setRequestHandler(ListPromptsRequestSchema, () => ({ prompts: [unitTest] }))
  server.setRequestHandler(GetPromptRequestSchema, ({ params: { name, arguments: given = {} } }) => promptOf(name, given))
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve
  })
  // Closing ends running commands, which have their own process groups.
  const close = (): void => void server.close()
  process.stdin.on('end', close)
  process.once('SIGTERM', close)
  await server.connect(transport)
  await closed
}
