import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import { Arguments, ToolFault } from '../arguments.ts'
import { runShell } from './shell.ts'
import { TextEditor } from './text-editor.ts'

const instructions =
  'The tool shell runs commands, the tool text_editor reads and changes files. Relative paths count from the working directory.'

const text = (description: string): object => ({ type: 'string', description })

/** What the bundled extension `developer` offers; its texts are in docs/decisions.md. */
const tools: Tool[] = [
  {
    name: 'shell',
    description: 'Runs a command in bash and returns what it prints.',
    inputSchema: { type: 'object', properties: { command: text('The command') }, required: ['command'] },
  },
  {
    name: 'text_editor',
    description: 'Views, writes and changes text files.',
    inputSchema: {
      type: 'object',
      properties: {
        path: text('The path of the file'),
        command: { type: 'string', enum: ['view', 'write', 'str_replace', 'insert', 'undo_edit'] },
        file_text: text('write: the new content'),
        old_str: text('str_replace: the text that goes'),
        new_str: text('str_replace, insert: the text that comes'),
        insert_line: { type: 'integer', description: 'insert: the line behind which the text comes, 0 for the beginning' },
        view_range: { type: 'array', items: { type: 'integer' }, description: 'view: the first and the last line, -1 for the end' },
      },
      required: ['command', 'path'],
    },
  },
]

/** An error of the protocol. The SDK sends its code and message; its own class would put the code into the message, too. */
class InvalidParamsError extends Error {
  override readonly name = 'InvalidParamsError'
  readonly code = ErrorCode.InvalidParams
}

/** Serves on the standard streams until its client closes them. */
export async function serveDeveloper(): Promise<void> {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- the newer class wants its schemas in zod, and ours are JSON
  const server = new Server({ name: 'developer', version: '1.16.0' }, { capabilities: { tools: {} }, instructions })
  const editor = new TextEditor()
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: values = {} } }, { signal }) => {
    const args = new Arguments(values)
    try {
      if (name === 'shell') return await shell(args.text('command'), signal)
      if (name === 'text_editor') return textResult(await editor.run(args))
    } catch (error) {
      if (error instanceof ToolFault) return { ...textResult(error.message), isError: true }
      throw error
    }
    throw new InvalidParamsError(`Unknown tool: ${name}`)
  })
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve
  })
  // Closing ends the commands that run, which have groups of their own.
  const close = (): void => void server.close()
  process.stdin.on('end', close)
  process.once('SIGTERM', close)
  await server.connect(new StdioServerTransport())
  await closed
}

async function shell(command: string, signal: AbortSignal): Promise<CallToolResult> {
  const { text: output, failed } = await runShell(command, signal)
  return failed ? { ...textResult(output), isError: true } : textResult(output)
}

function textResult(value: string): CallToolResult {
  return { content: [{ type: 'text', text: value }] }
}
