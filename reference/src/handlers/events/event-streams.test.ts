import { describe, expect, it, vi } from 'vitest'
import { OpenStreams } from '../../httpapi/sse/open-streams.ts'
import { useFakeTimers } from '../../testing/fake-timers.ts'
import { streamHeaders } from '../../testing/event-reader.ts'
import { TestApp, home } from '../../testing/test-app.ts'

useFakeTimers()

describe('GET /event (CT 5.2)', () => {
  it('has the head of an event stream', async () => {
    const { response } = await new TestApp().open('/event')
    expect(response.status).toBe(200)
    expect([...response.headers]).toEqual(streamHeaders)
  })

  it('begins with server.connected and continues with each event on one line', async () => {
    const test = new TestApp()
    await test.register('before', ['a'])
    const events = await test.open('/event')
    await test.register('c', ['a', 'b'])
    expect(await events.next()).toBe('data: {"type":"server.connected","properties":{}}\n\n')
    expect(await events.next()).toBe(
      'data: {"type":"client-tool.registered","properties":{"clientID":"c","toolIDs":["client_c_a","client_c_b"]}}\n\n',
    )
  })

  it('keeps an event on one line, whatever it contains', async () => {
    const test = new TestApp()
    const events = await test.events()
    await test.register('a\r\nb\n\nevent: x', [])
    expect(await events.next()).toBe(
      'data: {"type":"client-tool.registered","properties":{"clientID":"a\\r\\nb\\n\\nevent: x","toolIDs":[]}}\n\n',
    )
  })

  it('sends no keepalive (S17)', async () => {
    const test = new TestApp()
    const events = await test.events()
    await vi.advanceTimersByTimeAsync(95_000)
    await test.register('c', [])
    expect(await events.types(1)).toEqual(['client-tool.registered'])
  })

  it('gets only the events of its directory', async () => {
    const test = new TestApp()
    const [here, there] = [await test.events(), await test.events('?directory=/there')]
    await test.register('c', ['here'])
    await test.register('c', ['there'], '?directory=/there')
    await test.register('c', ['default'], `?directory=${home}`)
    const toolIDs = async (reader: typeof here): Promise<unknown> =>
      ((await reader.data()) as { properties: { toolIDs: string[] } }).properties.toolIDs
    expect([await toolIDs(here), await toolIDs(here)]).toEqual([['client_c_here'], ['client_c_default']])
    expect(await toolIDs(there)).toEqual(['client_c_there'])
  })

  it('removes no tool when it closes, and stops listening', async () => {
    const test = new TestApp()
    const events = await test.events()
    await test.register('c', ['a'])
    const all = await test.open('/global/event')
    await events.close()
    expect(await test.tools('c')).toEqual(['client_c_a'])
    void test.app.stop()
    expect(await all.next()).toBeNull() // no `server.instance.disposed` in a directory without listeners
  })
})

describe('GET /global/event (CT 5.3)', () => {
  it('wraps the events of every directory, and has neither a first event nor a keepalive', async () => {
    const test = new TestApp()
    const events = await test.open('/global/event?directory=/ignored&directory=/twice')
    await vi.advanceTimersByTimeAsync(95_000)
    await test.register('e1', [], '?directory=/path')
    await test.register('e2', [])
    expect(await events.next()).toBe(
      'data: {"directory":"/path","payload":{"type":"client-tool.registered","properties":{"clientID":"e1","toolIDs":[]}}}\n\n',
    )
    expect(await events.data()).toMatchObject({ directory: home, payload: { properties: { clientID: 'e2' } } })
  })
})

describe.each(['/event', '/global/event', '/client-tools/pending/c'])('HEAD %s (S10)', (target) => {
  it('has the head of the stream and opens no stream', async () => {
    const open = vi.spyOn(OpenStreams.prototype, 'open')
    const test = new TestApp()
    await test.register('c', ['a'])
    const head = await test.app.fetch(new Request(`http://x${target}`, { method: 'HEAD' }))
    expect(open).not.toHaveBeenCalled()
    expect(await test.tools('c')).toEqual(['client_c_a'])
    const get = await test.open(target)
    expect(open).toHaveBeenCalledOnce()
    expect([head.status, head.body]).toEqual([200, null])
    expect([...head.headers]).toEqual([...get.response.headers])
  })
})
