import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import { ShapeError, object, readShape, string } from '../../json/shape.ts'
import { runShell } from './shell.ts'
import { EditError, TextEditor, editRequest } from './text-editor.ts'

/** What the bundled extension `developer` offers (M55). */
const tools: Tool[] = [
  {
    name: 'shell',
    description: 'Runs a command in a shell and returns what it writes.',
    inputSchema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  },
  {
    name: 'text_editor',
    description:
      'Views and edits text files. The commands are view, write (file_text), str_replace (old_str, new_str), ' +
      'insert (insert_line, new_str) and undo_edit.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        command: { type: 'string', enum: ['view', 'write', 'str_replace', 'insert', 'undo_edit'] },
        file_text: { type: 'string' },
        old_str: { type: 'string' },
        new_str: { type: 'string' },
        insert_line: { type: 'integer' },
        view_range: { type: 'array', items: { type: 'integer' } },
      },
      required: ['path', 'command'],
    },
  },
]

/** An error of the protocol. The SDK sends its code and message; its own class would put the code into the message, too. */
class InvalidParamsError extends Error {
  override readonly name = 'InvalidParamsError'
  readonly code = ErrorCode.InvalidParams
}

const shellRequest = object<{ command: string }>({ command: string })

/** Serves on the standard streams until its client closes them. */
export async function serveDeveloper(transport: Transport = new StdioServerTransport()): Promise<void> {
  const server = developerServer()
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve
  })
  process.stdin.on('end', () => void server.close())
  await server.connect(transport)
  await closed
}

// eslint-disable-next-line @typescript-eslint/no-deprecated -- the newer class wants its schemas in zod, and ours are JSON
export function developerServer(): Server {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- as above
  const server = new Server({ name: 'developer', version: '1.16.0' }, { capabilities: { tools: {} } })
  const editor = new TextEditor()
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args = {} } }, { signal }) => {
    try {
      switch (name) {
        case 'shell':
          return await shell(readShape(shellRequest, args).command, signal)
        case 'text_editor':
          return textResult(await editor.run(readShape(editRequest, args)))
        default:
          throw new InvalidParamsError(`Unknown tool: ${name}`)
      }
    } catch (error) {
      if (error instanceof ShapeError) throw new InvalidParamsError(error.message, { cause: error })
      if (error instanceof EditError) return { ...textResult(error.message), isError: true }
      throw error
    }
  })
  return server
}

async function shell(command: string, signal: AbortSignal): Promise<CallToolResult> {
  const { output, failure } = await runShell(command, signal)
  if (failure === null) return textResult(output)
  const lineBreak = output === '' || output.endsWith('\n') ? '' : '\n'
  return { ...textResult(`${output}${lineBreak}The command failed: ${failure}`), isError: true }
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] }
}
