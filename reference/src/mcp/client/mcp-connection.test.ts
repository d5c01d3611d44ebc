import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { ListToolsRequestSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, vi } from 'vitest'
import { JsonNumber } from '../../wire/json/number.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import type { ServerNotification } from '#contract'
import type { CallListener } from './call-listener.ts'
import { useFakeTimers } from '../../testing/fake-timers.ts'
import { scriptedMcpServer } from '../../testing/mcp-server.ts'
import { silentListener } from '../../testing/silent-listener.ts'
import { McpConnection } from './mcp-connection.ts'

useFakeTimers()

const listener: CallListener = { ...silentListener, requestId: 'c' }
const options = { timeoutSeconds: 300, clientVersion: '9', origin: undefined }
const never = new AbortController().signal

/**
 * A connection to a scripted server, and the responses to that server's requests. The responses are recorded, but not delivered.
 */
async function connected(): Promise<{ connection: McpConnection; server: InMemoryTransport; answered: JSONRPCMessage[] }> {
  const [client, server] = InMemoryTransport.createLinkedPair()
  await scriptedMcpServer().connect(server)
  const connection = await McpConnection.open(client, options)
  const answered: JSONRPCMessage[] = []
  const send = client.send.bind(client)
  client.send = async (message, more) => {
    if ('method' in message) await send(message, more)
    else answered.push(message)
  }
  return { connection, server, answered }
}

describe('McpConnection', () => {
  it('introduces itself as goose, and asks for the version that goose speaks (GA 6.7)', async () => {
    const [client, server] = InMemoryTransport.createLinkedPair()
    const sent: JSONRPCMessage[] = []
    const send = client.send.bind(client)
    client.send = async (message, more) => {
      sent.push(message)
      await send(message, more)
    }
    await scriptedMcpServer().connect(server)
    const connection = await McpConnection.open(client, options)
    expect(sent[0]).toMatchObject({
      method: 'initialize',
      params: { protocolVersion: '2025-03-26', clientInfo: { name: 'goose', version: '9' }, capabilities: { sampling: {}, elicitation: {} } },
    })
    expect((await connection.tools()).map(({ name }) => name)).toHaveLength(11)
    await connection.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('does not wait for ever for a response, or for a server that never starts', async () => {
    const [client, server] = InMemoryTransport.createLinkedPair()
    await scriptedMcpServer().connect(server)
    const connection = await McpConnection.open(client, options)
    const hanging = connection.call('hang', {}, listener, never)
    await vi.advanceTimersByTimeAsync(300_001)
    expect(await hanging).toEqual({ status: 'error', error: '-32603: No answer within 300 s' })
    await connection.close()

    const [alone] = InMemoryTransport.createLinkedPair()
    const opening = expect(McpConnection.open(alone, options)).rejects.toThrow('No answer within 300 s')
    await vi.advanceTimersByTimeAsync(300_001)
    await opening
  })

  it('keeps nothing of a finished call while its reply continues', async () => {
    vi.useRealTimers()
    const [client, server] = InMemoryTransport.createLinkedPair()
    await scriptedMcpServer().connect(server)
    const connection = await McpConnection.open(client, options)
    const reply = new AbortController()
    const call = async (): Promise<WeakRef<object>> => {
      const args = { text: 'x' }
      await connection.call('echo', args, listener, AbortSignal.any([reply.signal]))
      return new WeakRef(args)
    }
    const args = await call()
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    // A WeakRef keeps its target alive for the rest of the turn in which it was made.
    await vi.waitUntil(() => {
      collect()
      return args.deref() === undefined
    }, { timeout: 100_000 })
    reply.abort()
    await connection.close()
  })

  it('withdraws the questions of a call that times out before it answers the server (X9)', async () => {
    const [client, server] = InMemoryTransport.createLinkedPair()
    await scriptedMcpServer().connect(server)
    const connection = await McpConnection.open(client, { ...options, timeoutSeconds: 30 })
    const sent: string[] = []
    const send = client.send.bind(client)
    client.send = async (message, more) => {
      sent.push('error' in message ? `${message.error.code}: ${message.error.message}` : 'method' in message ? message.method : 'result')
      await send(message, more)
    }
    const elicit = (_: string, __: unknown, signal: AbortSignal): Promise<unknown> =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error)
        })
      })
    const asking = connection.call('ask', {}, { ...listener, elicit }, never)
    await vi.advanceTimersByTimeAsync(30_001)
    expect(await asking).toEqual({ status: 'error', error: '-32603: No answer within 30 s' })
    expect(sent).toEqual(['tools/call', '-32603: Timeout waiting for user response', 'notifications/cancelled'])
    await connection.close()
  })

  it.each([
    ['before', 29_999, { status: 'success', value: [{ type: 'text', text: 'unasked' }] }],
    ['after', 30_000, { status: 'error', error: '-32603: No answer within 30 s' }],
  ])('uses the response of a server whose question has ended only %s its time-out (X4)', async (_, endsMs, result) => {
    const [client, server] = InMemoryTransport.createLinkedPair()
    await scriptedMcpServer().connect(server)
    const connection = await McpConnection.open(client, { ...options, timeoutSeconds: 30 })
    const send = client.send.bind(client)
    client.send = async (message, more) => {
      await send(message, more)
      // A server that responds to its call as soon as its question has failed.
      if ('error' in message) await server.send({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'unasked' }] } })
    }
    const elicit = (_: string, __: unknown, signal: AbortSignal): Promise<unknown> =>
      new Promise((_, reject) => {
        const end = (): void => {
          reject(new Error('nobody has answered'))
        }
        signal.addEventListener('abort', end)
        setTimeout(end, endsMs)
      })
    const calling = connection.call('hang', {}, { ...listener, elicit }, never)
    await server.send({ jsonrpc: '2.0', id: 100, method: 'elicitation/create', params: { message: 'x' } })
    await vi.advanceTimersByTimeAsync(30_001)
    expect(await calling).toEqual(result)
    await connection.close()
  })

  it.each([{}, { message: 7 }, { message: null, mode: 'form' }])('does not ask a question without a message: %j (X9)', async (params) => {
    const { connection, server, answered } = await connected()
    const calling = connection.call('hang', {}, listener, never)
    await server.send({ jsonrpc: '2.0', id: 100, method: 'elicitation/create', params })
    await vi.advanceTimersByTimeAsync(0)
    expect(answered).toMatchObject([{ id: 100, error: { code: -32602 } }])
    await connection.close()
    await calling
  })

  it.each<[what: string, size: number, pages: number, ok: boolean]>([
    ['as many pages as there may be', 1, 100, true],
    ['a page more', 1, 101, false],
    ['as much as there may be', 14 << 20, 4, true],
    ['more', 14 << 20, 5, false],
  ])('reads a list of %s (X2, X12)', async (_, size, pages, ok) => {
    const [client, server] = InMemoryTransport.createLinkedPair()
    const many = scriptedMcpServer()
    const tool = { name: 'x', description: 'x'.repeat(size), inputSchema: { type: 'object' as const } }
    let asked = 0
    many.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [tool], ...(++asked < pages && { nextCursor: 'more' }) }))
    await many.connect(server)
    const connection = await McpConnection.open(client, options)
    const listed = connection.tools().then(({ length }) => length, () => 0)
    expect(await listed).toBe(ok ? pages : 0)
    await connection.close()
  })

  it('has at most sixteen open questions (X25)', async () => {
    const { connection, server, answered } = await connected()
    const waiting: ((answer: unknown) => void)[] = []
    const elicit = (): Promise<unknown> => new Promise((resolve) => waiting.push(resolve))
    const calling = connection.call('hang', {}, { ...listener, elicit }, never)
    const ask = (id: number): Promise<void> => server.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: { message: 'x' } })
    for (let id = 100; id < 117; id++) await ask(id)
    await vi.advanceTimersByTimeAsync(0)
    expect(answered).toEqual([{ jsonrpc: '2.0', id: 116, error: { code: -32603, message: 'Too many open questions' } }])
    waiting[0]?.({})
    await vi.advanceTimersByTimeAsync(0)
    await ask(117)
    await vi.advanceTimersByTimeAsync(0)
    expect(waiting).toHaveLength(17)
    await connection.close()
    await calling
  })

  it('ends a call whose client has disconnected', async () => {
    const [client, server] = InMemoryTransport.createLinkedPair()
    await scriptedMcpServer().connect(server)
    const connection = await McpConnection.open(client, options)
    const leaving = new AbortController()
    const hanging = connection.call('hang', {}, listener, leaving.signal)
    leaving.abort(new Error('gone'))
    await expect(hanging).rejects.toThrow('gone')
    await connection.close()
  })

  it.each([-32000, -32001, -32602, 7])('reports the error %i of a server, even with a code that the SDK uses itself (X5)', async (code) => {
    const [client, server] = InMemoryTransport.createLinkedPair()
    await scriptedMcpServer().connect(server)
    const connection = await McpConnection.open(client, options)
    expect(await connection.call('fail', { code }, listener, never)).toEqual({ status: 'error', error: `${code}: bad input ({"n":1})` })
    const hanging = connection.call('hang', {}, listener, never)
    await connection.close()
    expect(await hanging).toEqual({ status: 'error', error: '-32603: Connection closed' })
    expect(await connection.call('fail', { code }, listener, never)).toEqual({ status: 'error', error: '-32603: Connection closed' })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('passes on the required members of notifications, and drops notifications that lack one (X8)', async () => {
    const [client, server] = InMemoryTransport.createLinkedPair()
    const scripted = scriptedMcpServer()
    await scripted.connect(server)
    const connection = await McpConnection.open(client, options)
    const heard: ServerNotification[] = []
    const calling = connection.call('hang', {}, { ...listener, onNotification: (one) => heard.push(one) }, never)
    const notify = (method: string, params: JsonObject): Promise<void> => server.send({ jsonrpc: '2.0', method, params })
    await notify('notifications/message', { data: [new JsonNumber('1.0')], extra: 1, level: 'info' })
    await notify('notifications/message', { level: 'info' })
    await notify('notifications/message', { level: 'loud', data: 1 })
    await notify('notifications/progress', { progressToken: 7, progress: new JsonNumber('1.50'), _meta: { a: 1 } })
    await notify('notifications/progress', { progress: 1 })
    await notify('notifications/other', {})
    await vi.advanceTimersByTimeAsync(0)
    expect(heard.map(stringifyJson)).toEqual([
      '{"method":"notifications/message","params":{"level":"info","data":[1.0]}}',
      '{"method":"notifications/progress","params":{"progressToken":7,"progress":1.50,"_meta":{"a":1}}}',
    ])
    await connection.close()
    await calling
  })
})
