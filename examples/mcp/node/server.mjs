import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'

const server = new McpServer({ name: 'orchard', version: '1.0.0' })
const text = (text) => ({ content: [{ type: 'text', text }] })

// In the order of their names, because the SDK for Go sorts them.
server.registerTool(
  'add',
  { description: 'Adds two whole numbers', inputSchema: { a: z.number().int(), b: z.number().int() } },
  async ({ a, b }) => text(String(a + b)),
)

server.registerTool('fell', { description: 'Fails' }, async () => {
  throw new Error('the axe is blunt')
})

// Takes some steps, and reports each of them to a client that wants progress. It can be cancelled.
server.registerTool(
  'grow',
  { description: 'Grows a tree', inputSchema: { steps: z.number().int(), pace: z.number().int().describe('Milliseconds for a step') } },
  async ({ steps, pace }, { _meta, signal, sendNotification }) => {
    for (let step = 1; step <= steps; step++) {
      if (_meta?.progressToken !== undefined) {
        const params = { progressToken: _meta.progressToken, progress: step, total: steps }
        await sendNotification({ method: 'notifications/progress', params })
      }
      await pause(pace, undefined, { signal })
    }
    return text('grown')
  },
)

await server.connect(new StdioServerTransport())
