import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { JsonDocument } from '../../wire/json/document.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import type { ServerNotification } from '#contract'
import { silentListener } from '../../testing/silent-listener.ts'
import { maxMessageBytes } from './event-messages.ts'
import { HttpTransport } from './http-transport.ts'
import { McpConnection } from './mcp-connection.ts'
import { onLoopback } from '../../testing/on-loopback.ts'

/** How a scripted server responds to the request of each method: the JSON of messages. `"id":ID` marks the response. */
interface Script {
  /** Whether it sends responses as an event stream. */
  streams?: boolean
  tools?: string
  call?: string[]
  initialize?: string
  /** Responds to `GET`. */
  get?: (response: ServerResponse) => void
  post?: (response: ServerResponse) => boolean
  session?: string | undefined
}

const hello = '{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}'

/** An MCP server on loopback, and the requests that it received. */
async function serve({ streams = false, tools = '{"tools":[]}', call = [], initialize, get, post, session }: Script): Promise<{ url: URL; bodies: string[]; paths: string[] }> {
  const [bodies, paths]: [string[], string[]] = [[], []]
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    paths.push(`${request.method ?? ''} ${request.url ?? ''}`)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer) // no encoding is set, so chunks are bytes
    const body = Buffer.concat(chunks).toString()
    bodies.push(body)
    if (request.method === 'GET') {
      if (get) get(response)
      else response.writeHead(405).end()
      return
    }
    if (post?.(response) === true) return
    if (request.method === 'DELETE') {
      response.writeHead(204).end()
      return
    }
    const { id, method } = JSON.parse(body) as { id?: number; method: string }
    if (id === undefined) {
      response.writeHead(202).end()
      return
    }
    const results: Record<string, string[]> = {
      initialize: [initialize ?? `{"jsonrpc":"2.0","id":ID,"result":${hello}}`],
      'tools/list': [`{"jsonrpc":"2.0","id":ID,"result":${tools}}`],
      'tools/call': call,
    }
    const messages = (results[method] ?? []).map((text) => text.replace('"id":ID', `"id":${id}`))
    response.writeHead(200, { 'Content-Type': streams ? 'text/event-stream' : 'application/json', ...(session !== undefined && { 'Mcp-Session-Id': session }) })
    response.end(streams ? messages.map((text) => `data: ${text}\n\n`).join('') : messages.join())
  }
  const server = createServer((request, response) => void answer(request, response))
  const origin = await onLoopback(server)
  return { url: new URL(`${origin}/mcp`), bodies, paths }
}

async function open(url: URL): Promise<McpConnection> {
  const connection = await McpConnection.open(HttpTransport.streamable(url, {}), { timeoutSeconds: 20, clientVersion: '1', origin: url.origin })
  onTestFinished(() => connection.close())
  return connection
}

const { signal } = new AbortController()

async function called(connection: McpConnection, args: JsonObject = {}): Promise<{ result: string; notified: string[] }> {
  const notified: string[] = []
  const notify = (notification: ServerNotification): void => {
    notified.push(stringifyJson(notification))
  }
  const listener = { ...silentListener, onNotification: notify }
  return { result: stringifyJson(await connection.call('t', args, listener, signal)), notified }
}

const answered = (text: string): string => `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"${text}"}]}}`
const digits = '{"n":1.50,"z":[1e3,9007199254740993],"a":1.0,"10":{"b":1,"7":0},"2":{"1":0,"0":1}}'

describe('MCP over HTTP', () => {
  it('keeps the digits and the order of arguments (G2)', async () => {
    const { url, bodies } = await serve({ call: [answered('ok')] })
    const args = new JsonDocument(digits).value as JsonObject
    expect(await called(await open(url), args)).toMatchObject({ result: '{"status":"success","value":[{"type":"text","text":"ok"}]}' })
    expect(bodies.at(-1)).toContain(`"arguments":${digits}`)
  })

  it.each([true, false])('keeps the order of the data of an error, streamed: %s', async (streams) => {
    const { url } = await serve({ streams, call: [`{"jsonrpc":"2.0","id":ID,"error":{"code":7,"message":"m","data":${digits}}}`] })
    expect((await called(await open(url))).result).toBe(stringifyJson({ status: 'error', error: `7: m (${digits})` }))
  })

  it('sends arguments of any depth', async () => {
    const { url, bodies } = await serve({ call: [answered('ok')] })
    const deep = `{"a":${'['.repeat(8000)}${']'.repeat(8000)}}`
    await called(await open(url), new JsonDocument(deep).value as JsonObject)
    expect(bodies.at(-1)).toContain(`"arguments":${deep}`)
  })

  it.each([true, false])('keeps the digits and the order of what servers send, streamed: %s', async (streams) => {
    const tools = `{"tools":[{"name":"t","inputSchema":{"x":${digits}}}]}`
    const told = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":${digits},"_meta":{"b":1,"progressToken":2,"1":3}}}`
    const meta = `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a","_meta":${digits}}]}}`
    const { url } = await serve({ streams, tools, call: streams ? [told, meta] : [meta] })
    const connection = await open(url)
    expect(stringifyJson(await connection.tools())).toBe(`[{"name":"t","inputSchema":{"x":${digits}}}]`)
    const { result, notified } = await called(connection)
    expect(result).toBe(`{"status":"success","value":[{"type":"text","text":"a","_meta":${digits}}]}`)
    expect(notified).toEqual(streams ? [`{"method":"notifications/message","params":{"level":"info","data":${digits},"_meta":{"b":1,"progressToken":2,"1":3}}}`] : [])
  })

  it.each([
    ['too large', true, answered('x'.repeat(maxMessageBytes))],
    ['too large', false, answered('x'.repeat(maxMessageBytes))],
    ['no JSON', true, 'nonsense'],
    ['no JSON', false, 'nonsense'],
    ['no JSON-RPC', true, '{"a":1}'],
    ['no JSON-RPC', false, '{"a":1}'],
  ])('ends at a message that is %s (X12), streamed: %s', async (_, streams, message) => {
    const { url, paths } = await serve({ streams, call: [message] })
    const connection = await open(url)
    const closed = '{"status":"error","error":"-32603: Connection closed"}'
    expect((await called(connection)).result).toBe(closed)
    const asked = paths.length
    expect((await called(connection)).result).toBe(closed)
    expect(paths).toHaveLength(asked)
  })

  it.each([true, false])('is not established when the first response is invalid, streamed: %s', async (streams) => {
    const { url } = await serve({ streams, initialize: '{"a":1}' })
    await expect(open(url)).rejects.toThrow('Extension does not speak MCP')
  })

  it.each(['2024-10-07', '2030-01-01'])('is not spoken in the version %s (X1)', async (version) => {
    const { url } = await serve({ initialize: `{"jsonrpc":"2.0","id":ID,"result":${hello.replace('2025-03-26', version)}}` })
    await expect(open(url)).rejects.toThrow('Extension does not speak MCP')
  })

  it('treats null as no content (X6)', async () => {
    const { url } = await serve({ call: ['{"jsonrpc":"2.0","id":ID,"result":{"content":null}}'] })
    expect((await called(await open(url))).result).toBe('{"status":"success","value":[]}')
  })

  it.each([undefined, 's1'])('ends its session when it ends: %s', async (session) => {
    const { url, paths } = await serve({ session })
    const connection = await open(url)
    await connection.close()
    await connection.close()
    expect(paths.filter((path) => path.startsWith('DELETE'))).toEqual(session === undefined ? [] : ['DELETE /mcp'])
  })

  it.each([302, 307])('follows no redirect, not even within the server: %i', async (status) => {
    const post = (response: ServerResponse): boolean => {
      response.writeHead(status, { Location: '/other' }).end()
      return true
    }
    const { url, paths } = await serve({ post })
    await expect(open(url)).rejects.toThrow(`Cannot connect to ${url.origin}: ${status} `)
    expect(paths).toEqual(['POST /mcp'])
  })

  it('works without a separate stream if the server has none (X36)', async () => {
    const { url, paths } = await serve({ call: [answered('ok')], get: (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>') })
    const connection = await open(url)
    expect((await called(connection)).result).toContain('ok')
    expect(paths.filter((path) => path === 'GET /mcp')).toHaveLength(1)
  })
})

/** A server whose tool hangs in this way, and which responds to a cancellation or does not. Also returns its events in order. */
async function hanging(hang: (response: ServerResponse, id: number) => void, answersCancellations = true): Promise<{ url: URL; events: string[]; idle: (calls: number) => Promise<void> }> {
  const events: string[] = []
  let sockets = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { id, method = 'GET' } = JSON.parse(Buffer.concat(chunks).toString() || '{}') as { id?: number; method?: string }
      events.push(method)
      response.on('close', () => events.push(`${method} closed`))
      if (id !== undefined && method === 'initialize') response.writeHead(200, { 'Content-Type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${id},"result":${hello}}`)
      else if (id !== undefined) hang(response, id)
      else if (method === 'GET') response.writeHead(405).end()
      else if (method !== 'notifications/cancelled' || answersCancellations) response.writeHead(202).end()
    })
  })
  server.on('connection', (socket) => {
    sockets++
    socket.on('close', () => sockets--)
  })
  const origin = await onLoopback(server)
  const idle = async (calls: number): Promise<void> => {
    await vi.waitUntil(() => events.filter((event) => event === 'tools/call closed').length === calls && sockets === 0, { timeout: 100_000, interval: 5 })
  }
  return { url: new URL(`${origin}/mcp`), events, idle }
}

const [json, stream] = [{ 'Content-Type': 'application/json' }, { 'Content-Type': 'text/event-stream' }]

describe('a request over HTTP that times out (X4)', () => {
  it.each<[what: string, hang: (response: ServerResponse) => void]>([
    ['never answers', () => undefined],
    ['begins a document', (response) => response.writeHead(200, json).write('{"jsonrpc":')],
    ['begins a stream', (response) => response.writeHead(200, stream).write(': hello\n\n')],
    ['begins a stream that could be opened again', (response) => response.writeHead(200, stream).write('retry: 1\nid: 1\ndata:\n\n')],
    ['begins something else', (response) => response.writeHead(404).write('x')],
  ])('keeps no connection to a server that %s after the cancellation', async (_, hang) => {
    const { url, events, idle } = await hanging(hang)
    const connection = await McpConnection.open(HttpTransport.streamable(url, {}), { timeoutSeconds: 1, clientVersion: '1', origin: url.origin })
    expect((await called(connection)).result).toBe('{"status":"error","error":"-32603: No answer within 1 s"}')
    await idle(1)
    const gone = new AbortController()
    const leaving = connection.call('t', {}, silentListener, gone.signal)
    await vi.waitUntil(() => events.filter((event) => event === 'tools/call').length === 2)
    gone.abort(new Error('gone'))
    await expect(leaving).rejects.toThrow('gone')
    await idle(2)
    await connection.close()
    const one = ['tools/call', 'notifications/cancelled', 'notifications/cancelled closed', 'tools/call closed']
    expect(events.filter((event) => one.includes(event))).toEqual([...one, ...one])
    expect(events.filter((event) => event === 'GET')).toHaveLength(1)
  })

  it('keeps no connection to a server that does not answer the cancellation either', async () => {
    const { url, events, idle } = await hanging(() => undefined, false)
    const connection = await McpConnection.open(HttpTransport.streamable(url, {}), { timeoutSeconds: 1, clientVersion: '1', origin: url.origin })
    await called(connection)
    await idle(1)
    await connection.close()
    expect(events.slice(-4).sort()).toEqual(['notifications/cancelled', 'notifications/cancelled closed', 'tools/call', 'tools/call closed'])
  })

  it('keeps no connection when the extension ends in the meantime', async () => {
    const { url, events, idle } = await hanging(() => undefined)
    const connection = await open(url)
    const calling = called(connection)
    await vi.waitUntil(() => events.includes('tools/call'))
    await connection.close()
    expect((await calling).result).toBe('{"status":"error","error":"-32603: Connection closed"}')
    await idle(1)
  })
})

describe('MCP over SSE', () => {
  it('is not spoken by a server that has no event stream', async () => {
    const { url } = await serve({ get: (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>') })
    const opened = McpConnection.open(HttpTransport.sse(url), { timeoutSeconds: 20, clientVersion: '1', origin: url.origin })
    await expect(opened).rejects.toThrow('Extension does not speak MCP')
  })
})
