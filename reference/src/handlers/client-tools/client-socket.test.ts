import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { startServer, type RunningServer } from '../../server.ts'
import { rootPaths } from '../../settings/paths.ts'
import { eventually } from '../../testing/eventually.ts'
import { RawClient, request } from '../../testing/raw-client.ts'
import { SocketClient, clientFrame, code, handshake, utf8 } from '../../testing/socket-client.ts'
import { gooseOptions, recordingLogger, type LogEntry } from '../../testing/test-app.ts'

const root = mkdtempSync(join(tmpdir(), 'socket-'))
const cleanups: (() => Promise<void> | void)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

afterAll(() => {
  rmSync(root, { recursive: true })
})

class Fixture {
  readonly server: RunningServer
  readonly logs: LogEntry[]

  private constructor(server: RunningServer, logs: LogEntry[]) {
    this.server = server
    this.logs = logs
  }

  static async start(keepaliveInterval = 30_000): Promise<Fixture> {
    const { logger, entries } = recordingLogger()
    const options = { host: '127.0.0.1', port: 0, directory: '/d', defaultTimeout: 30_000, keepaliveInterval, maxBody: 32 * 1024 * 1024 }
    const server = await startServer({ ...options, ...gooseOptions, paths: rootPaths(root) }, logger)
    cleanups.push(() => server.stop())
    return new Fixture(server, entries)
  }

  async open(clientID: string, query = ''): Promise<SocketClient> {
    const client = await SocketClient.open(this.server.url, clientID, query)
    cleanups.push(() => {
      client.raw.close()
    })
    return client
  }

  async connect(): Promise<RawClient> {
    const client = await RawClient.open(this.server.url)
    cleanups.push(() => {
      client.close()
    })
    return client
  }

  async post(path: string, body: unknown): Promise<{ status: number; body: unknown }> {
    const headers = { 'Content-Type': 'application/json' }
    const response = await fetch(this.server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, body: await response.json() }
  }

  async tools(clientID: string): Promise<string[]> {
    const response = await fetch(`${this.server.url}/client-tools/tools/${clientID}`)
    return ((await response.json()) as { id: string }[]).map(({ id }) => id)
  }
}

const tool = { id: 'a', description: 'd', parameters: {} }
const success = { status: 'success', title: 't', output: 'o' }

/** Opens a socket whose client has one tool. */
async function withTool(f: Fixture, clientID = 'c'): Promise<SocketClient> {
  const client = await f.open(clientID)
  client.send({ type: 'register', tools: [tool] })
  expect(await client.message()).toEqual({ type: 'registered', toolIDs: [`client_${clientID}_a`] })
  return client
}

describe('the handshake (CT 7.1, S15)', () => {
  it('is answered with 101, and chooses nothing', async () => {
    const f = await Fixture.start()
    const client = await f.connect()
    const offers = ['Sec-WebSocket-Protocol: chat', 'Sec-WebSocket-Extensions: permessage-deflate']
    client.send(handshake('/client-tools/ws/a%2Fb', offers))
    const head = (await client.head()).toLowerCase()
    expect(head).toMatch(/^http\/1\.1 101 switching protocols\r\n/)
    expect(head).toContain('\r\nsec-websocket-accept: ' + 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='.toLowerCase() + '\r\n')
    expect(head).toContain('\r\nupgrade: websocket\r\n')
    expect(head).toContain('\r\nconnection: upgrade\r\n')
    expect(head).toContain('\r\naccess-control-allow-origin: *\r\n')
    expect(head).not.toMatch(/content-length|transfer-encoding|protocol:|extensions/)
  })

  it.each<[string, string, number, RegExp]>([
    ['a plain GET', request('GET /client-tools/ws/c'), 426, /\r\nUpgrade: websocket\r\n/i],
    ['HEAD', handshake('/client-tools/ws/c').replace('GET', 'HEAD'), 426, /\r\nUpgrade: websocket\r\n/i],
    ['another protocol', handshake('/client-tools/ws/c').replace('websocket', 'h2c'), 426, /\r\nUpgrade: websocket\r\n/i],
    ['no connection option', handshake('/client-tools/ws/c').replace('Connection: Upgrade', 'Connection: keep-alive'), 426, /./],
    ['HTTP/1.0', handshake('/client-tools/ws/c').replace('HTTP/1.1', 'HTTP/1.0'), 426, /./],
    ['another version', handshake('/client-tools/ws/c').replace('13', '8'), 426, /\r\nSec-WebSocket-Version: 13\r\n/i],
    ['a short key', handshake('/client-tools/ws/c').replace('dGhl', ''), 400, /./],
    ['two directories', handshake('/client-tools/ws/c?directory=a&directory=b'), 400, /application\/json/],
    ['an unknown path', handshake('/client-tools/ws'), 404, /./],
    ['another method', handshake('/client-tools/ws/c').replace('GET', 'PUT'), 405, /\r\nAllow: GET, HEAD\r\n/],
  ])('%s is rejected', async (_, sent, status, has) => {
    const f = await Fixture.start()
    const client = await f.connect()
    client.send(sent)
    const head = await client.head()
    expect(head.slice(9, 12)).toBe(`${status}`)
    expect(head).toMatch(has)
    if (!head.includes('json')) expect(head).toMatch(/content-length: 0\r\n/i)
  })

  it('leaves other requests of the connection as they are', async () => {
    const f = await Fixture.start()
    const client = await f.connect()
    client.send(handshake('/client-tools/tools') + request('GET /client-tools/tools/c') + handshake('/client-tools/ws/c').replace('13', '8'))
    expect((await client.answer()).body).toBe('{}')
    expect((await client.answer()).body).toBe('[]')
    expect((await client.answer()).status).toBe(426)
    const body = JSON.stringify({ clientID: 'u', tools: [tool] })
    const headers = ['Upgrade: websocket', 'Connection: Upgrade', 'Content-Type: application/json', `Content-Length: ${body.length}`]
    client.send(request('POST /client-tools/register', headers, body) + handshake('/client-tools/ws/c') + clientFrame(0x89, 'early'))
    expect((await client.answer()).body).toBe('{"registered":["client_u_a"]}')
    expect(await client.head()).toContain(' 101 ')
    expect(await client.until('early')).toBe('\x8a\x05early')
  })
})

describe('messages (CT 7)', () => {
  it('register, run and unregister tools', async () => {
    const f = await Fixture.start()
    await f.post('/client-tools/register', { clientID: 'c', tools: [{ ...tool, id: 'http' }] })
    const client = await withTool(f)
    expect(await f.tools('c')).toEqual(['client_c_http', 'client_c_a'])
    const answer = f.post('/client-tools/execute', { toolID: 'client_c_a', requestID: 'r', input: { x: 'ż' } })
    const call = { type: 'client-tool-request', requestID: 'r', sessionID: '', messageID: '', callID: '', tool: 'client_c_a', input: { x: 'ż' } }
    expect(await client.message()).toEqual({ type: 'request', request: call })
    client.send({ type: 'result', requestID: 'unknown', result: success })
    client.send({ type: 'client-tool-response', requestID: 'r', result: success })
    expect(await answer).toEqual({ status: 200, body: success })
    client.send({ type: 'unregister', toolIDs: ['a'] })
    client.send({ type: 'nothing known' })
    client.send({ type: 'unregister' })
    client.send({ type: 'register', tools: [] })
    expect(await client.message()).toEqual({ type: 'registered', toolIDs: [] })
    expect(await f.tools('c')).toEqual([])
  })

  it.each<[string, string]>([
    ['', 'Invalid JSON'],
    ['{', 'Invalid JSON'],
    ['['.repeat(9001) + ']'.repeat(9001), 'Invalid JSON'],
    ['[]', 'Invalid message'],
    ['{"type":1}', 'Invalid message'],
    ['{}', 'Invalid message'],
    ['{"type":"register"}', 'tools: Invalid input: expected array, received undefined'],
    ['{"type":"register","tools":[{"id":1}]}', 'tools.0.id: Invalid input: expected string, received number'],
    ['{"type":"register","tools":[' + Array<string>(1001).fill('0').join() + ']}', 'Too many tools'],
    ['{"type":"unregister","toolIDs":null}', 'toolIDs: Invalid input: expected array, received null'],
    ['{"type":"result","requestID":"r","result":{"status":"x"}}', 'result.status: Invalid input'],
  ])('that are wrong are answered with an error: %.40s', async (text, error) => {
    const f = await Fixture.start()
    const client = await f.open('c')
    client.frame(0x81, text)
    expect(await client.message()).toEqual({ type: 'error', error })
    client.frame(0x81, '\xef\xbb\xbf{"type":"register","tools":[]}')
    expect(await client.message()).toEqual({ type: 'registered', toolIDs: [] })
  })

  it('come in fragments, with control frames between them, and byte by byte', async () => {
    const f = await Fixture.start()
    const client = await f.open('c')
    const text = utf8('{"type":"żółw","tools":[]}').replace(utf8('żółw'), 'register')
    client.frame(0x01, text.slice(0, 5))
    client.frame(0x89, 'ping')
    client.frame(0x00)
    for (const byte of clientFrame(0x80, text.slice(5))) client.raw.send(byte)
    expect(await client.next()).toEqual({ first: 0x8a, payload: 'ping' })
    expect(await client.message()).toEqual({ type: 'registered', toolIDs: [] })
  })

  it('may have 16 MiB, both ways', async () => {
    const f = await Fixture.start()
    const client = await withTool(f)
    const padding = 16 * 1024 * 1024 - '{"type":"register","tools":[],"x":""}'.length
    client.send({ type: 'register', tools: [], x: 'x'.repeat(padding) })
    expect(await client.message()).toEqual({ type: 'registered', toolIDs: [] })
    void f.post('/client-tools/execute', { toolID: 'client_c_a', input: { x: 'x'.repeat(17 * 1024 * 1024) } })
    expect(await client.message()).toMatchObject({ type: 'request' })
    client.send({ type: 'register', tools: [], x: 'x'.repeat(padding + 1) })
    expect(await client.next()).toEqual({ first: 0x88, payload: code(1009) })
  })
})

describe('the end of a socket (CT 5.1, 7.1)', () => {
  it('fails the executions of its client and removes its tools, like the end of an SSE stream', async () => {
    const f = await Fixture.start()
    const client = await withTool(f)
    const sse = await f.connect()
    sse.send(request('GET /client-tools/pending/c'))
    await sse.head()
    const answer = f.post('/client-tools/execute', { toolID: 'client_c_a', requestID: 'r' })
    expect(await client.message()).toMatchObject({ type: 'request', request: { requestID: 'r' } })
    await sse.until('"requestID":"r"')
    client.frame(0x88, code(4321) + 'bye')
    expect(await client.next()).toEqual({ first: 0x88, payload: code(4321) })
    expect(await client.raw.ended()).toBe('')
    expect(await answer).toEqual({ status: 500, body: { error: { code: 'INTERNAL_ERROR', message: 'Client disconnected' } } })
    expect(await f.tools('c')).toEqual([])
    const other = await withTool(f)
    sse.close()
    await eventually(async () => {
      expect(await f.tools('c')).toEqual([])
    })
    other.frame(0x88)
    expect(await other.next()).toEqual({ first: 0x88, payload: '' })
  })

  it.each<[string, (client: SocketClient) => void]>([
    ['a connection that ends', (client) => client.raw.socket.end()],
    ['a connection that is cut', (client) => client.raw.socket.resetAndDestroy()],
  ])('%s is one too', async (_, end) => {
    const f = await Fixture.start()
    const client = await withTool(f)
    end(client)
    await eventually(async () => {
      expect(await f.tools('c')).toEqual([])
    })
  })

  it.each<[string, string, number]>([
    ['a binary message', clientFrame(0x82, 'x'), 1003],
    ['text that is not UTF-8', clientFrame(0x81, '\xc3'), 1007],
    ['a reason that is not UTF-8', clientFrame(0x88, code(1000) + '\xff'), 1007],
    ['a message above the limit', clientFrame(0x81, '', 16 * 1024 * 1024 + 1), 1009],
    ['fragments above the limit', clientFrame(0x01, 'x') + clientFrame(0x80, '', 16 * 1024 * 1024), 1009],
    ['no mask', '\x81\x02{}', 1002],
    ['a reserved bit', clientFrame(0xc1, '{}'), 1002],
    ['an unknown opcode', clientFrame(0x83, ''), 1002],
    ['a ping in fragments', clientFrame(0x09, ''), 1002],
    ['a long ping', clientFrame(0x89, 'x'.repeat(126)), 1002],
    ['a continuation of nothing', clientFrame(0x80, '{}'), 1002],
    ['a message within a message', clientFrame(0x01, '{') + clientFrame(0x81, '{}'), 1002],
    ['a length of 2^63', '\x81\xff\x80\0\0\0\0\0\0\0mask', 1002],
    ['a close of one byte', clientFrame(0x88, 'x'), 1002],
    ...[0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000].map((value): [string, string, number] => [`code ${value}`, clientFrame(0x88, code(value)), 1002]),
  ])('%s is closed', async (_, sent, expected) => {
    const f = await Fixture.start()
    const client = await withTool(f)
    client.raw.send(sent)
    expect(await client.next()).toEqual({ first: 0x88, payload: code(expected) })
    expect(await f.tools('c')).toEqual([])
    client.raw.socket.end()
    expect(await client.raw.ended()).toBe('')
  })

  it('does not lose messages before it', async () => {
    const f = await Fixture.start()
    const client = await withTool(f)
    const answer = f.post('/client-tools/execute', { toolID: 'client_c_a', requestID: 'r' })
    await client.message()
    client.raw.send(clientFrame(0x81, JSON.stringify({ type: 'result', requestID: 'r', result: success })) + clientFrame(0x88, code(1000)))
    expect((await answer).status).toBe(200)
  })

  it('waits a second for the close of the client', async () => {
    const f = await Fixture.start()
    const client = await f.open('c')
    client.frame(0x82, 'x')
    expect(await client.next()).toEqual({ first: 0x88, payload: code(1003) })
    expect(await client.raw.ended()).toBe('')
  })

  it('comes with 1001 when the server stops, after the executions failed (S19)', async () => {
    const f = await Fixture.start()
    const client = await withTool(f)
    const answer = f.post('/client-tools/execute', { toolID: 'client_c_a' })
    await client.message()
    const stopped = f.server.stop()
    expect(await client.next()).toEqual({ first: 0x88, payload: code(1001) })
    client.frame(0x88, code(1001))
    expect(await answer).toMatchObject({ status: 500 })
    expect(await client.raw.ended()).toBe('')
    await stopped
  })

  it('comes to a client that reads too slowly (S16)', async () => {
    const f = await Fixture.start()
    const client = await withTool(f)
    client.raw.socket.pause()
    const answers: Promise<{ status: number }>[] = []
    while (answers.length < 20) answers.push(f.post('/client-tools/execute', { toolID: 'client_c_a', input: { x: 'x'.repeat(2 * 1024 * 1024) } }))
    for (const { status } of await Promise.all(answers)) expect([404, 500]).toContain(status)
    expect(f.logs).toMatchObject([{ message: 'event queue full, stream ended', fields: { clientID: 'c' } }])
    client.raw.socket.resume()
    await client.raw.ended()
    expect(await f.tools('c')).toEqual([])
  })
})

describe('pings (CT 7.1)', () => {
  it('come every interval, and a client that sends nothing for two intervals is dropped', async () => {
    const f = await Fixture.start(50)
    const client = await withTool(f)
    for (let i = 0; i < 4; i++) {
      expect(await client.next()).toEqual({ first: 0x89, payload: '' })
      client.frame(0x8a)
    }
    await client.raw.ended()
    expect(client.raw.received).not.toContain('\x88')
    await eventually(async () => {
      expect(await f.tools('c')).toEqual([])
    })
  })
})
