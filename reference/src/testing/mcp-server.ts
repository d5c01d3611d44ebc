import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema, ListResourcesRequestSchema, ListToolsRequestSchema, ReadResourceRequestSchema, type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

const names = ['echo', 'tell', 'fail', 'complain', 'ask', 'sample', 'big', 'hang', 'env', 'end', 'parts'] as const

/** An MCP server with one tool for each case that tests need. */
// eslint-disable-next-line @typescript-eslint/no-deprecated -- the newer class wants its schemas in zod
export function scriptedMcpServer(): Server {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- as above
  const server = new Server(
    { name: 'scripted', version: '1' },
    { capabilities: { tools: {}, logging: {}, resources: {} }, instructions: 'Use these tools in tests.' },
  )
  const inputSchema = { type: 'object' as const, properties: { n: { type: 'integer' }, text: { type: 'string' } } }
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) =>
    params?.cursor === undefined
      ? { tools: names.slice(0, 4).map((name) => ({ name, description: `does ${name}`, inputSchema })), nextCursor: '4' }
      : { tools: names.slice(4).map((name) => ({ name, inputSchema })) },
  )
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) =>
    params?.cursor === undefined
      ? { resources: [{ uri: 'test://a', name: 'A' }], nextCursor: '1' }
      : { resources: [{ uri: 'test://b', name: 'B', mimeType: 'text/plain' }] },
  )
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => {
    if (uri !== 'test://a') throw Object.assign(new Error('no such thing'), { code: -32002 })
    return { contents: [{ uri, text: 'the text' }, { uri, mimeType: 'image/png', blob: 'AAAA' }] }
  })
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args = {}, _meta: meta } }): Promise<CallToolResult> => {
    switch (name) {
      case 'echo':
        return text(JSON.stringify(args))
      case 'tell':
        await server.sendLoggingMessage({ level: 'info', data: 'working' })
        await server.notification({
          method: 'notifications/progress',
          params: { progressToken: meta?.progressToken ?? 'none', progress: 1, total: 2, message: 'half' },
        })
        return text('told')
      case 'fail':
        throw Object.assign(new Error('bad input'), { code: args.code ?? -32602, data: { n: 1 } })
      case 'complain':
        return { ...text('it did not work'), isError: true }
      case 'ask': {
        const answer = await server.elicitInput({
          message: 'Your name?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
        })
        return text(JSON.stringify(answer))
      }
      case 'sample': {
        const asked = server.request({ method: 'sampling/createMessage', params: args }, z.looseObject({}))
        return text(JSON.stringify(await asked.catch((error: unknown) => ({ error: String(error) }))))
      }
      case 'big':
        return text('x'.repeat(200_001))
      case 'env':
        return text(process.env[String(args.text)] ?? 'unset')
      case 'parts': {
        const image = { type: 'image' as const, data: 'AAAA', mimeType: 'image/png' }
        return { content: args.text === 'none' ? [image] : [{ type: 'text', text: 'a' }, image, { type: 'text', text: 'b' }] }
      }
      case 'end':
        process.exit(0)
        break
      case 'hang':
        return new Promise<never>(() => undefined)
    }
    throw new Error(`no tool ${name}`)
  })
  return server
}

function text(value: string): CallToolResult {
  return { content: [{ type: 'text', text: value }] }
}
