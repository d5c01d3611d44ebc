// Lets a scenario of lockstep drive the library (docs/drivers.md): one line of JSON for each call, one for each outcome.
import { createInterface } from 'node:readline'
import { WebSocket } from 'ws'
import { type Client, createClient, type ToolContext, type ToolResult } from '../src/index.ts'

/** What a tool does when it is called. */
type Behaviour =
  | ToolResult | { error: string } | { wait: true } | { echo: true } | { progress: number[] }
  | { call: { tool: string; input?: Record<string, unknown> } }
interface Values {
  url: string; clientID: string; transport: 'sse' | 'websocket'; timeout: number
  id: string; description: string; parameters: Record<string, unknown>; handler: Behaviour
}

let client: Client | undefined
const [errors, reconnects]: [string[], [number, number][]] = [[], []]

const actions: Record<string, (values: Values) => unknown> = {
  new: ({ url, ...options }) => {
    client = createClient({
      ...options, baseUrl: url, WebSocket,
      onError: (error) => errors.push(error instanceof Error ? error.message : String(error)),
      onReconnect: (...report) => reconnects.push(report),
    })
  },
  register: ({ id, handler, ...tool }) => tools().register(id, tool, (input, context) => run(handler, input, context)),
  unregister: ({ id }) => tools().unregister(id),
  connect: () => tools().connect(),
  disconnect: () => tools().disconnect(),
  seen: () => ({ errors, reconnects }),
}

function tools(): Client['tools'] {
  if (!client) throw new Error('call new first')
  return client.tools
}

async function run(handler: Behaviour, input: unknown, { signal, progress, callTool }: ToolContext): Promise<ToolResult> {
  if ('error' in handler) throw new Error(handler.error)
  if ('echo' in handler) return { title: 'echo', output: JSON.stringify(input) }
  if ('wait' in handler) return new Promise((_, reject) => {
    signal.addEventListener('abort', () => { reject(new Error('aborted')) })
  })
  if ('call' in handler) return { title: 'call', output: JSON.stringify(await callTool(handler.call.tool, handler.call.input)) }
  if (!('progress' in handler)) return handler
  for (const number of handler.progress) await progress(number)
  return { title: 'done', output: '' }
}

createInterface({ input: process.stdin }).on('line', (line) => void answer(line)).on('close', () => void client?.tools.disconnect())

async function answer(line: string): Promise<void> {
  const { id, do: action, with: values } = JSON.parse(line) as { id: number; do: string; with?: Values } // lockstep wrote it
  const act = async (): Promise<object> => ({ ok: (await (actions[action] ?? unknown)(values ?? ({} as Values))) ?? {} })
  const unknown = (): never => { throw new Error(`unknown action ${action}`) }
  const outcome = await act().catch((error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }))
  process.stdout.write(`${JSON.stringify({ id, ...outcome })}\n`)
}
