import { describe, expect, it, vi } from 'vitest'
import { createRouter } from './httpapi/router.ts'
import type { EventReader } from './testing/event-reader.ts'
import { TestApp, home } from './testing/test-app.ts'

describe('directories (CT 3.6)', () => {
  it('share tools and pending requests, and have separate events', async () => {
    const test = new TestApp()
    const [a, b, all] = [
      await test.events('?directory=/a'),
      await test.events('?directory=/b'),
      await test.open('/global/event'),
    ]
    const here = await test.open('/client-tools/pending/c?directory=/a')
    const there = await test.open('/client-tools/pending/c?directory=/b')

    await test.register('c', ['t'], '?directory=/a')
    expect(await test.tools('c')).toEqual(['client_c_t'])
    const completed = test.execute({ toolID: 'client_c_t', requestID: 'r1' }, '?directory=/b')
    expect(await there.next()).toContain('"requestID":"r1"')
    await test.submit('r1', { status: 'success', title: '', output: '' }, '?directory=/a')
    expect((await completed).status).toBe(200)

    // The stream of /a never sees the call in /b, so its first event is this one.
    const local = test.execute({ toolID: 'client_c_t', requestID: 'r0' }, '?directory=/a')
    expect(await here.next()).toContain('"requestID":"r0"')
    await test.submit('r0', { status: 'success', title: '', output: '' }, '?directory=/a')
    expect((await local).status).toBe(200)

    const failed = test.execute({ toolID: 'client_c_t', requestID: 'r2' }, '?directory=/b')
    expect(await there.next()).toContain('"requestID":"r2"')
    await here.close() // when the stream of /a closes, calls that wait in /b fail too
    expect((await failed).status).toBe(500)
    expect(await test.tools('c')).toEqual([])

    expect(await a.types(7)).toEqual([
      'client-tool.registered',
      'client-tool.completed',
      'client-tool.executing',
      'client-tool.request',
      'client-tool.completed',
      'client-tool.failed',
      'client-tool.unregistered',
    ])
    expect(await b.types(4)).toEqual(
      Array(2).fill(['client-tool.executing', 'client-tool.request']).flat(),
    )
    const heard: string[] = []
    while (heard.length < 11) {
      const { directory, payload } = (await all.data()) as { directory: string; payload: { type: string } }
      heard.push(`${directory} ${payload.type.replace('client-tool.', '')}`)
    }
    expect(heard).toEqual([
      '/a registered',
      '/b executing',
      '/b request',
      '/a completed',
      '/a executing',
      '/a request',
      '/a completed',
      '/b executing',
      '/b request',
      '/a failed',
      '/a unregistered',
    ])
  })

  it('time out where the execution runs', async () => {
    vi.useFakeTimers()
    const test = new TestApp()
    const events = await test.events('?directory=/b')
    await test.register('c', ['t'])
    const answer = test.execute({ toolID: 'client_c_t' }, '', { headers: { 'x-opencode-directory': '/b' } })
    await events.types(2)
    await vi.advanceTimersByTimeAsync(30_000)
    expect((await answer).status).toBe(504)
    expect(await events.types(1)).toEqual(['client-tool.failed'])
    vi.useRealTimers()
  })
})

describe('stop (S19)', () => {
  it('fails pending calls, publishes the end in every directory with a stream, and ends the streams in order', async () => {
    const test = new TestApp()
    await test.register('c', ['t'])
    const pending = await test.open('/client-tools/pending/c')
    const all = await test.open('/global/event')
    const closed = await test.events('?directory=/closed')
    const [b, mine, b2] = [await test.events('?directory=/b'), await test.events(), await test.events('?directory=/b')]
    await closed.close()
    const answer = test.execute({ toolID: 'client_c_t', requestID: 'r' })
    await mine.types(2)
    const rest = async (reader: EventReader): Promise<unknown[]> => {
      const data: unknown[] = []
      for (let block = await reader.next(); block !== null; block = await reader.next()) {
        data.push(JSON.parse(block.replace(/^(event: .*\n)?data: /, '')))
      }
      return data
    }
    const rests = [rest(b), rest(b2), rest(mine), rest(all), rest(pending)]
    await test.app.stop()
    const [ofB, ofB2, ofMine, ofAll, ofPending] = await Promise.all(rests)

    const { status, text } = await answer
    expect([status, text]).toEqual([500, '{"error":{"code":"INTERNAL_ERROR","message":"Server is shutting down"}}'])
    const goodbye = (directory: string): object => ({ type: 'server.instance.disposed', properties: { directory } })
    expect(ofB).toEqual([goodbye('/b')])
    expect(ofB2).toEqual([goodbye('/b')])
    expect(ofMine).toEqual([
      expect.objectContaining({ type: 'client-tool.failed' }),
      goodbye(home),
    ])
    expect(ofPending).toMatchObject([{ requestID: 'r' }])
    expect(ofAll?.slice(2)).toEqual([
      { directory: home, payload: expect.objectContaining({ type: 'client-tool.failed' }) as object },
      { directory: '/b', payload: goodbye('/b') },
      { directory: home, payload: goodbye(home) },
    ])
    // No `client-tool.unregistered` event follows: the server ended the stream, not the client.
    expect(await test.tools('c')).toEqual(['client_c_t'])
  })

  it('ends streams by kind: /event, /global/event, pending', async () => {
    const test = new TestApp()
    const ends: string[] = []
    const watch = async (name: string, target: string): Promise<void> => {
      const response = await test.app.fetch(new Request(`http://x${target}`))
      void response.text().then(() => ends.push(name))
    }
    await watch('pending', '/client-tools/pending/c')
    await watch('global', '/global/event')
    await watch('event', '/event')
    await new Promise(setImmediate)
    await test.app.stop()
    expect(ends).toEqual(['event', 'global', 'pending'])
  })

  it('ends later requests at once', async () => {
    const test = new TestApp()
    await test.register('c', ['t'])
    await test.app.stop()
    const events = await test.open('/event')
    expect(await events.next()).toBe('data: {"type":"server.connected","properties":{}}\n\n')
    expect(await events.next()).toBeNull()
    const pending = await test.open('/client-tools/pending/c')
    expect(await pending.next()).toBeNull()
    expect((await test.execute({ toolID: 'client_c_t' })).text).toContain('Server is shutting down')
    expect(await test.tools('c')).toEqual(['client_c_t'])
  })
})

describe('an unexpected error', () => {
  it('is logged, and the response does not contain its text', async () => {
    const test = new TestApp()
    await test.register('c', ['t'])
    const broken = new Error('secret')
    vi.spyOn(Map.prototype, 'values').mockImplementationOnce(() => {
      throw broken
    })
    const { status, text, headers } = await test.fetch('/client-tools/tools/c')
    expect([status, text]).toEqual([500, '{"name":"UnknownError","data":{"message":"Internal server error"}}'])
    expect(headers.get('Access-Control-Allow-Origin')).toBe('*')
    expect(test.logs).toEqual([
      {
        level: 'error',
        message: 'request failed',
        fields: { method: 'GET', path: '/client-tools/tools/c', err: broken },
      },
    ])
  })

  it('can be thrown by any route', async () => {
    const handler = (): never => {
      throw new Error('broken')
    }
    const router = createRouter(
      [{ method: 'GET', path: '/x', handler }],
      [],
      (error, request, path) => Response.json([error.message, request.method, path]),
    )
    expect(await (await router.request('/x')).json()).toEqual(['broken', 'GET', '/x'])
  })
})
