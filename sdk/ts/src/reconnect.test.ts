import { describe, expect, it, vi } from 'vitest'
import type { Received } from './testing/scripted-server.ts'
import { definition, type Fixture, pending, register, result, toolRequest, useFixture } from './testing/fixture.ts'

const tools = 'GET /client-tools/tools/c1'
const done = { title: 't', output: 'o' }

/** Lets the wait of the next attempt pass, and answers its requests. */
async function reconnect(f: Fixture, waitMs: number): Promise<Received> {
  vi.advanceTimersByTime(waitMs)
  ;(await f.server.next(register)).reply(200)
  return f.server.next(pending)
}

describe('a lost stream', () => {
  const f = useFixture()

  it.each<[string, (stream: Received) => void]>([
    ['ends', (stream) => {
      stream.open().end()
    }],
    ['fails', (stream) => {
      stream.open().write(': ').cut()
    }],
    ['is refused', (stream) => {
      stream.reply(404)
    }],
  ])('S58: is one that %s; all tools are registered again', async (_, lose) => {
    await f.client.tools.register('a', definition, () => done)
    const connecting = f.client.tools.connect()
    ;(await f.server.next(register)).reply(200)
    lose(await f.server.next(pending))
    await connecting
    await f.reconnects.count(1)
    vi.advanceTimersByTime(1000)
    const again = await f.server.next(register)
    expect(again.json()).toEqual({ clientID: 'c1', tools: [{ id: 'a', ...definition }] })
    again.reply(200)
    await f.server.next(pending)
    expect(f.reconnects.all).toEqual([[1, 1000]])
    expect(f.errors.all).toEqual([])
  })

  it('S58: the head of the stream resets the counter; a request for it does not', async () => {
    (await f.connect()).end()
    await f.reconnects.count(1)
    ;(await reconnect(f, 1000)).reply(500)
    await f.reconnects.count(2)
    ;(await reconnect(f, 2000)).open().end()
    await f.reconnects.count(3)
    expect(f.reconnects.all).toEqual([[1, 1000], [2, 2000], [1, 1000]])
  })

  it('S58: after five attempts the client is disconnected, and connect begins again', async () => {
    (await f.connect()).end()
    for (const [i, waitMs] of [1000, 2000, 4000, 8000, 16_000].entries()) {
      await f.reconnects.count(i + 1)
      ;(await reconnect(f, waitMs)).cut()
    }
    await f.errors.count(1)
    expect(f.errors.all).toMatchObject([{ message: 'Max reconnection attempts reached' }])
    expect(vi.getTimerCount()).toBe(0)
    const stream = await f.connect()
    stream.end()
    await f.reconnects.count(6)
    expect(f.reconnects.all[5]).toEqual([1, 1000])
  })

  it('S57: tools that the server refuses later end the connection', async () => {
    (await f.connect()).end()
    await f.reconnects.count(1)
    vi.advanceTimersByTime(1000)
    ;(await f.server.next(register)).reply(429, { error: { code: 'RATE_LIMITED', message: 'Too many clients' } })
    await f.errors.count(1)
    expect(f.errors.all).toMatchObject([{ status: 429, message: '429: Too many clients' }])
    expect(f.reconnects.all).toHaveLength(1)
    await f.client.tools.register('a', definition, () => done) // sends nothing
  })

  it('disconnect during a wait ends it', async () => {
    (await f.connect()).end()
    await f.reconnects.count(1)
    expect(vi.getTimerCount()).toBe(1)
    await f.client.tools.disconnect()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('tools registered during a wait go with the next attempt', async () => {
    (await f.connect()).end()
    await f.reconnects.count(1)
    await f.client.tools.register('a', definition, () => done)
    vi.advanceTimersByTime(1000)
    const again = await f.server.next(register)
    expect(again.json()).toMatchObject({ tools: [{ id: 'a' }] })
  })
})

describe('the check after a reconnect', () => {
  const f = useFixture()

  /** Reconnects, and returns the request of the check. */
  async function check(): Promise<Received> {
    await f.client.tools.register('a', definition, () => done)
    ;(await f.connect()).end()
    await f.reconnects.count(1)
    const stream = (await reconnect(f, 1000)).open()
    // A request shows that the head has arrived.
    stream.event('tool-request', toolRequest('a'))
    ;(await f.server.next(result)).reply(200)
    vi.advanceTimersByTime(999)
    expect(f.server.waiting).toBe(0)
    vi.advanceTimersByTime(1)
    return f.server.next(tools)
  }

  it('S59: registers again if the server lists fewer tools', async () => {
    (await check()).reply(200, [])
    const again = await f.server.next(register)
    expect(again.json()).toEqual({ clientID: 'c1', tools: [{ id: 'a', ...definition }] })
    again.reply(200)
  })

  it('S59: does nothing if the server lists all of them', async () => {
    const request = await check()
    request.reply(200, [{ id: 'client_c1_a', ...definition }])
    await request.closed
    expect(f.errors.all).toEqual([])
  })

  it('S59: its failure is only reported', async () => {
    (await check()).reply(500, { name: 'UnknownError', data: { message: 'no list' } })
    await f.errors.count(1)
    expect(f.errors.all).toMatchObject([{ status: 500, message: '500: no list' }])
  })

  it('S59: the failure of its registration is only reported, even a refusal', async () => {
    (await check()).reply(200, [])
    ;(await f.server.next(register)).reply(429, { error: { code: 'RATE_LIMITED', message: 'Too many tools' } })
    await f.errors.count(1)
    expect(f.errors.all).toMatchObject([{ status: 429, message: '429: Too many tools' }])
    expect(f.reconnects.all).toHaveLength(1)
  })

  it('S59: is dropped when the stream is lost before', async () => {
    (await f.connect()).end()
    await f.reconnects.count(1)
    ;(await reconnect(f, 1000)).open().end()
    await f.reconnects.count(2)
    expect(vi.getTimerCount()).toBe(1) // the wait alone
  })
})
