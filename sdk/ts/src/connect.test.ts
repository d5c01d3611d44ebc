import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, vi } from 'vitest'
import { createClient } from './index.ts'
import { definition, newFixture, pending, register, useFixture } from './testing/fixture.ts'

const done = { title: 't', output: 'o' }

describe('what is sent (S56)', () => {
  it('S56: bodies, headers and paths', async () => {
    const { server, client } = await newFixture({ clientID: 'c/1 ż', secretKey: 'key', headers: { 'X-Trace': '7' } })
    const common = { 'x-secret-key': 'key', 'x-trace': '7' }
    await client.tools.register('b', { parameters: { type: 'object' }, description: 'd' }, () => done)
    const connecting = client.tools.connect()
    const first = await server.next(register)
    expect(first.headers).toMatchObject({ ...common, 'content-type': 'application/json' })
    expect(first.body).toBe('{"clientID":"c/1 ż","tools":[{"id":"b","description":"d","parameters":{"type":"object"}}]}')
    first.reply(200)
    const stream = await server.next('GET /client-tools/pending/c%2F1%20%C5%BC')
    expect(stream.headers).toMatchObject({ ...common, accept: 'text/event-stream' })
    expect(stream.headers).not.toHaveProperty('content-type')
    await connecting
    stream.open().event('tool-request', { requestID: 'r1', tool: 'client_c/1 ż_b' })
    const result = await server.next('POST /client-tools/result')
    expect(result.headers).toMatchObject({ ...common, 'content-type': 'application/json' })
    expect(result.body).toBe('{"requestID":"r1","result":{"status":"success","title":"t","output":"o"}}')
    result.reply(200)
    const removing = client.tools.unregister('b')
    const removal = await server.next('DELETE /client-tools/unregister')
    expect(removal.body).toBe('{"clientID":"c/1 ż","toolIDs":["client_c/1 ż_b"]}')
    removal.reply(200)
    await removing
    await client.tools.disconnect()
    await server.close()
  })

  it('rejects an address and a client ID that no request can have', () => {
    expect(() => createClient({ baseUrl: 'localhost' })).toThrow('write an address such as "http://127.0.0.1:3000"')
    expect(() => createClient({ baseUrl: 'http://h', clientID: '..' })).toThrow('clientID is ".."')
  })

  it('has a random UUID as client ID, also where crypto.randomUUID is missing', () => {
    vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) })
    const ids = [1, 2].map(() => createClient({ baseUrl: 'http://h' }).clientID)
    vi.unstubAllGlobals()
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(ids[0]).not.toBe(ids[1])
  })

  it('never follows a redirect with the key', async () => {
    const { server, client } = await newFixture({ secretKey: 'key' })
    const starting = client.startSession({ tools: false })
    const failed = expect(starting).rejects.toThrow('POST /agent/start')
    const request = await server.next('POST /agent/start')
    request.redirect(`${server.url}/elsewhere`)
    await failed
    expect(server.waiting).toBe(0)
    await server.close()
  })
})

describe('tools', () => {
  const f = useFixture()

  it('sends all definitions in the order of registration, also those changed while the first request is under way', async () => {
    await f.client.tools.register('a', definition, () => done)
    const connecting = f.client.tools.connect()
    const first = await f.server.next(register)
    const registering = f.client.tools.register('b', { ...definition, description: 'B' }, () => done)
    first.reply(200)
    const stream = await f.server.next(pending)
    const second = await f.server.next(register)
    expect(second.json()).toEqual({
      clientID: 'c1', tools: [{ id: 'a', ...definition }, { id: 'b', ...definition, description: 'B' }],
    })
    second.reply(200)
    await Promise.all([connecting, registering])
    stream.open()
  })

  it('a registration that is refused while connected fails, and the stream stays', async () => {
    const stream = await f.connect()
    const registering = f.client.tools.register('a', definition, () => done)
    const request = await f.server.next(register)
    const failed = expect(registering).rejects.toMatchObject({ status: 429, message: '429: Too many tools' })
    request.reply(429, { error: { code: 'RATE_LIMITED', message: 'Too many tools' } })
    await failed
    stream.event('tool-request', { requestID: 'r1', tool: 'client_c1_a' })
    ;(await f.server.next('POST /client-tools/result')).reply(200)
  })

  it('needs no server to register and unregister while disconnected', async () => {
    await f.client.tools.register('a', definition, () => done)
    await f.client.tools.unregister('a')
    await f.client.tools.disconnect()
  })
})

describe('connect', () => {
  const warn = vi.fn()
  const f = useFixture({ logger: { debug: () => undefined, warn } })

  it('S57: resolves when the tools are registered and the stream is requested, before the head of the stream', async () => {
    let connected = false
    const connecting = f.client.tools.connect().then(() => (connected = true))
    const request = await f.server.next(register)
    expect(connected).toBe(false)
    expect(request.json()).toEqual({ clientID: 'c1', tools: [] })
    request.reply(200)
    await connecting
    await f.server.next(pending)
  })

  it('two calls share one connection', async () => {
    const both = Promise.all([f.client.tools.connect(), f.client.tools.connect()])
    ;(await f.server.next(register)).reply(200)
    await f.server.next(pending)
    await both
  })

  it('S57: a failed first attempt is repeated after the waits of a lost stream, until they are used up', async () => {
    warn.mockClear()
    const failed = f.client.tools.connect().catch((error: unknown) => error)
    for (const [i, waitMs] of [1000, 2000, 4000, 8000, 16_000].entries()) {
      ;(await f.server.next(register)).reply(503)
      await f.reconnects.count(i + 1)
      vi.advanceTimersByTime(waitMs - 1)
      expect(vi.getTimerCount()).toBe(1)
      vi.advanceTimersByTime(1)
    }
    ;(await f.server.next(register)).reply(503)
    const error = await failed
    expect(error).toMatchObject({ message: 'Max reconnection attempts reached' })
    expect(f.errors.all).toEqual([error])
    expect(f.reconnects.all).toEqual([[1, 1000], [2, 2000], [3, 4000], [4, 8000], [5, 16_000]])
    // The causes are only logged.
    expect(error).not.toHaveProperty('cause')
    const cause = { reason: { message: '503: Service Unavailable' } }
    expect(warn.mock.calls.slice(0, -1)).toMatchObject(Array.from({ length: 6 }, () => ['stream lost', cause]))
  })

  it.each<[number, unknown, string]>([
    [400, { error: 'Request body too large' }, '400: Request body too large'],
    [429, { error: { code: 'RATE_LIMITED', message: 'Too many clients' } }, '429: Too many clients'],
    [400, { name: 'UnknownError', data: { message: 'd' }, message: 'm' }, '400: d'],
    [400, { message: 'm', error: [{ path: [], message: 'bad' }] }, '400: m'],
    [400, { data: {}, error: [{ path: ['tools', 0, 'id'], message: 'bad' }, { path: [], message: 'worse' }], success: false }, '400: tools.0.id: bad'],
    [400, { data: null, error: [{ path: [], message: 'bad' }], success: false }, '400: bad'],
    [400, { data: {}, error: [], success: false }, '400: Bad Request'],
    [413, { error: { message: 1 }, data: [], message: null }, '413: Content Too Large'],
    [422, 'a text', '422: Unprocessable Content'],
    [499, {}, '499'],
  ])('S57: tools that the server refuses are not sent again (%i %j)', async (status, body, message) => {
    const failed = f.client.tools.connect().catch((error: unknown) => error)
    ;(await f.server.next(register)).reply(status, body)
    const error = await failed
    expect(error).toMatchObject({ status, message })
    expect(f.errors.all).toEqual([error])
    expect(f.reconnects.all).toEqual([])
  })

  it('S57: the message of a body that is not JSON is the name of the status', async () => {
    const failed = expect(f.client.tools.connect()).rejects.toMatchObject({ status: 404, message: '404: Not Found' })
    ;(await f.server.next(register)).replyText(404, 'no such page')
    await failed
  })

  it('a request that is not answered fails after 30 s', async () => {
    const connecting = f.client.tools.connect()
    const request = await f.server.next(register)
    vi.advanceTimersByTime(30_000)
    await request.closed
    await f.reconnects.count(1)
    const failed = expect(connecting).rejects.toThrow('Disconnected')
    await f.client.tools.disconnect()
    await failed
  })

  it('an aborted signal ends the attempts, and leaves nothing behind', async () => {
    const controller = new AbortController()
    const connecting = f.client.tools.connect({ signal: controller.signal })
    const failed = expect(connecting).rejects.toThrow('enough')
    ;(await f.server.next(register)).reply(503)
    await f.reconnects.count(1)
    controller.abort(new Error('enough'))
    await failed
    expect(vi.getTimerCount()).toBe(0)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  it('the signal has no effect once connected', async () => {
    const controller = new AbortController()
    const connecting = f.client.tools.connect({ signal: controller.signal })
    ;(await f.server.next(register)).reply(200)
    const stream = await f.server.next(pending)
    await connecting
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    controller.abort()
    stream.open().event('tool-request', { requestID: 'r1', tool: 'x' })
    ;(await f.server.next('POST /client-tools/result')).reply(200)
  })

  it('may follow a disconnect', async () => {
    const first = await f.connect()
    await f.client.tools.disconnect()
    await first.closed
    const second = await f.connect()
    second.event('tool-request', { requestID: 'r1', tool: 'x' })
    ;(await f.server.next('POST /client-tools/result')).reply(200)
  })

  it('disconnect closes the stream after a garbage collection too', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void // what the flag has exposed
    const stream = await f.connect()
    stream.event('tool-request', { requestID: 'r1', tool: 'x' })
    ;(await f.server.next('POST /client-tools/result')).reply(200)
    for (let i = 0; i < 3; i++) {
      await new Promise(setImmediate)
      collectGarbage()
    }
    await f.client.tools.disconnect()
    await stream.closed
  })

  it('disconnect closes the stream and sends nothing', async () => {
    const stream = await f.connect()
    await f.client.tools.disconnect()
    await stream.closed
    expect(f.server.waiting).toBe(0)
    expect(f.reconnects.all).toEqual([])
    expect(f.errors.all).toEqual([])
  })
})
