import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { WebSocket } from 'ws'
import { type ClientOptions, createClient } from './index.ts'
import type { ServerSocket } from './testing/scripted-server.ts'
import { definition, register, result, toolRequest, useFixture } from './testing/fixture.ts'

const done = { title: 't', output: 'o' }
/** The socket of `ws`, and Node's own if it has one. */
const sockets: [string, Partial<ClientOptions>][] = [['ws', { WebSocket }]]
if ('WebSocket' in globalThis) sockets.push(['the platform', {}])

describe.each(sockets)('a socket of %s', (_, option) => {
  const f = useFixture({ ...option, transport: 'websocket', headers: { 'X-Trace': '7' }, secretKey: 'key' })

  /** Connects the client, and returns its socket, whose `register` message has arrived. */
  async function connect(): Promise<ServerSocket> {
    const connecting = f.client.tools.connect()
    ;(await f.server.next(register)).reply(200)
    const socket = await (await f.server.handshake()).accept()
    await socket.next()
    await connecting
    return socket
  }

  it('S57: connect resolves when it is open and its register message was sent', async () => {
    let connected = false
    await f.client.tools.register('a', definition, () => done)
    const connecting = f.client.tools.connect().then(() => (connected = true))
    ;(await f.server.next(register)).reply(200)
    const handshake = await f.server.handshake()
    expect(handshake.request.url).toBe('/client-tools/ws/c1')
    expect(connected).toBe(false)
    const socket = await handshake.accept()
    await connecting
    expect(await socket.next()).toBe('{"type":"register","tools":[{"id":"a","description":"d","parameters":{"type":"object"}}]}')
  })

  it('S56: has all headers in its handshake', async () => {
    const connecting = f.client.tools.connect()
    ;(await f.server.next(register)).reply(200)
    const handshake = await f.server.handshake()
    expect(handshake.request.headers).toMatchObject({ 'x-trace': '7', 'x-secret-key': 'key' })
    if ('WebSocket' in option) expect(handshake.request.headers).not.toHaveProperty('sec-websocket-extensions')
    await (await handshake.accept()).next()
    await connecting
  })

  it('carries requests and results', async () => {
    await f.client.tools.register('a', definition, (input) => ({ title: 't', output: JSON.stringify(input) }))
    const socket = await connect()
    socket.send({ type: 'registered', toolIDs: [] })
    socket.send({ type: 'request', request: toolRequest('a', { x: 1 }) })
    expect(await socket.next()).toBe(
      '{"type":"result","requestID":"r1","result":{"status":"success","title":"t","output":"{\\"x\\":1}"}}',
    )
  })

  it('S62: carries progress, but no calls', async () => {
    await f.client.tools.register('a', definition, async (_, { progress, callTool }) => {
      await progress(1, { total: 3 })
      return { title: 't', output: JSON.stringify(await callTool('shell')) }
    })
    const socket = await connect()
    socket.send({ type: 'request', request: toolRequest('a') })
    expect(await socket.next()).toBe('{"type":"progress","requestID":"r1","progress":1,"total":3}')
    ;(await f.server.next('POST /client-tools/call')).reply(200, { status: 'success', content: [7] })
    expect(await socket.next()).toContain('"output":"[7]"')
  })

  it('registers and unregisters over HTTP while connected', async () => {
    const socket = await connect()
    const registering = f.client.tools.register('a', definition, () => done)
    ;(await f.server.next(register)).reply(200)
    await registering
    const removing = f.client.tools.unregister('a')
    ;(await f.server.next('DELETE /client-tools/unregister')).reply(200)
    await removing
    socket.send({ type: 'request', request: toolRequest('a') })
    expect(await socket.next()).toContain('Unknown tool: a')
  })

  it('S60: invalid messages and errors are reported; unknown types are ignored', async () => {
    const socket = await connect()
    const messages = ['{', '[]', {}, { type: 7 }, Buffer.from('{"type":"other"}'), { type: 'error' }]
    const requests = [{}, { request: [] }, { request: { requestID: 'r1' } }].map((request) => ({ type: 'request', ...request }))
    for (const message of [...messages, ...requests]) socket.send(message)
    socket.send({ type: 'error', error: 'E' })
    socket.send({ type: 'other' })
    socket.send({ type: 'request', request: toolRequest('x') })
    await socket.next()
    const invalid = Array.from({ length: 9 }, () => ({ message: 'Invalid message' }))
    expect(f.errors.all).toMatchObject([...invalid, { message: 'E' }])
    expect(f.reconnects.all).toEqual([])
  })

  it('S60: is lost after a message of more than 16 MiB', async () => {
    const socket = await connect()
    socket.send(`"${'x'.repeat(16 * 1024 * 1024)}"`)
    await f.reconnects.count(1)
    expect(await socket.closed).toBe('WebSocket' in option ? 1009 : 1000) // other sockets cannot say 1009
  })

  it('S58: is lost when the server closes it; everything is registered again', async () => {
    await f.client.tools.register('a', definition, () => done)
    const socket = await connect()
    socket.close()
    await f.reconnects.count(1)
    vi.advanceTimersByTime(1000)
    const again = await f.server.next(register)
    expect(again.json()).toEqual({ clientID: 'c1', tools: [{ id: 'a', ...definition }] })
    again.reply(200)
    const next = await (await f.server.handshake()).accept()
    expect(JSON.parse(await next.next())).toEqual({ type: 'register', tools: [{ id: 'a', ...definition }] })
    next.close()
    await f.reconnects.count(2)
    expect(f.reconnects.all).toEqual([[1, 1000], [1, 1000]])
  })

  it('S57: a refused handshake counts like a lost stream', async () => {
    const connecting = f.client.tools.connect()
    ;(await f.server.next(register)).reply(200)
    ;(await f.server.handshake()).refuse()
    await f.reconnects.count(1)
    vi.advanceTimersByTime(1000)
    ;(await f.server.next(register)).reply(200)
    await (await (await f.server.handshake()).accept()).next()
    await connecting
    expect(f.reconnects.all).toEqual([[1, 1000]])
  })

  it('a handshake without a response fails after 30 s', async () => {
    const connecting = f.client.tools.connect()
    ;(await f.server.next(register)).reply(200)
    await f.server.handshake()
    vi.advanceTimersByTime(30_000)
    await f.reconnects.count(1)
    const failed = expect(connecting).rejects.toThrow('Disconnected')
    await f.client.tools.disconnect()
    await failed
  })

  it('S61: a result is posted if the socket has been lost meanwhile', async () => {
    let finish = (): void => undefined
    let start = (): void => undefined
    const started = new Promise<void>((resolve) => (start = resolve))
    await f.client.tools.register('a', definition, () => new Promise((resolve) => {
      finish = () => {
        resolve(done)
      }
      start()
    }))
    const socket = await connect()
    socket.send({ type: 'request', request: toolRequest('a') })
    await started
    socket.close()
    await f.reconnects.count(1)
    finish()
    const submitted = await f.server.next(result)
    expect(submitted.json()).toMatchObject({ requestID: 'r1', result: { output: 'o' } })
    submitted.reply(200)
  })

  it('disconnect closes it and waits for its end', async () => {
    const socket = await connect()
    await f.client.tools.disconnect()
    expect(await socket.closed).toBe(1000)
    expect(vi.getTimerCount()).toBe(0)
    expect(f.errors.all).toEqual([])
  })

  it('disconnect during the handshake ends it', async () => {
    const connecting = f.client.tools.connect()
    ;(await f.server.next(register)).reply(200)
    await f.server.handshake()
    const failed = expect(connecting).rejects.toThrow('Disconnected')
    await f.client.tools.disconnect()
    await failed
    expect(vi.getTimerCount()).toBe(0)
  })
})

it('says what to do on a platform without a WebSocket', () => {
  vi.stubGlobal('WebSocket', undefined)
  onTestFinished(() => {
    vi.unstubAllGlobals()
  })
  expect(() => createClient({ baseUrl: 'http://127.0.0.1', transport: 'websocket' })).toThrow('pass one in the option WebSocket')
})
