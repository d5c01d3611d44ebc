import { describe, expect, it, vi } from 'vitest'
import { SlowReaderError } from '../../httpapi/sse/event-stream.ts'
import { useFakeTimers } from '../../testing/fake-timers.ts'
import { streamHeaders, type EventReader } from '../../testing/event-reader.ts'
import { TestApp } from '../../testing/test-app.ts'

useFakeTimers()

const ping = 'event: ping\ndata: \n\n'

function requestIDOf(block: string | null): string {
  const json = /^event: tool-request\ndata: (\{.*\})\n\n$/.exec(block ?? '')?.[1]
  if (json === undefined) throw new Error(`not a tool-request: ${JSON.stringify(block)}`)
  return (JSON.parse(json) as { requestID: string }).requestID
}

async function requestIDs(stream: EventReader, count: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) ids.push(requestIDOf(await stream.next()))
  return ids
}

describe('GET /client-tools/pending/{clientID} (CT 5.1)', () => {
  it('has the head of an event stream, whatever the Accept header is', async () => {
    const test = new TestApp()
    const headers = { Accept: 'application/json', 'Last-Event-ID': '7' }
    const { response } = await test.open('/client-tools/pending/c', { headers })
    expect(response.status).toBe(200)
    expect([...response.headers]).toEqual([...streamHeaders, ['x-accel-buffering', 'no']])
  })

  it('sends exactly the specified bytes of a request', async () => {
    const test = new TestApp()
    await test.register('x1', ['a'])
    const stream = await test.open('/client-tools/pending/x1')
    void test.execute({
      toolID: 'client_x1_a',
      requestID: 'req-1',
      sessionID: 'ses_1',
      messageID: 'msg_1',
      callID: 'call_1',
      input: { text: 'a\nb\r\n\u2028<ż>' },
    })
    expect(await stream.next()).toBe(
      'event: tool-request\ndata: {"type":"client-tool-request","requestID":"req-1","sessionID":"ses_1","messageID":"msg_1","callID":"call_1","tool":"client_x1_a","input":{"text":"a\\nb\\r\\n\u2028<ż>"}}\n\n',
    )
  })

  it('pings at multiples of the interval, whatever else it sends', async () => {
    const test = new TestApp({ keepaliveInterval: 30_000 })
    await test.register('c', ['a'])
    await vi.advanceTimersByTimeAsync(7000)
    const stream = await test.open('/client-tools/pending/c')
    await vi.advanceTimersByTimeAsync(29_999)
    void test.execute({ toolID: 'client_c_a', requestID: 'before', timeout: 90_000 })
    await vi.advanceTimersByTimeAsync(1)
    void test.execute({ toolID: 'client_c_a', requestID: 'between', timeout: 90_000 })
    await vi.advanceTimersByTimeAsync(29_999)
    void test.execute({ toolID: 'client_c_a', requestID: 'later', timeout: 90_000 })
    await vi.advanceTimersByTimeAsync(1)
    expect(requestIDOf(await stream.next())).toBe('before')
    expect(Buffer.from((await stream.next()) ?? '')).toHaveLength(20)
    expect(requestIDOf(await stream.next())).toBe('between')
    expect(requestIDOf(await stream.next())).toBe('later')
    expect(await stream.next()).toBe(ping)
  })

  it('gets only the requests of its client, in the order in which they are issued', async () => {
    const test = new TestApp({ rateLimit: { calls: 0, windowMs: 1 } })
    await test.register('c', ['a'])
    await test.register('c2', ['a'])
    const stream = await test.open('/client-tools/pending/c')
    const ids = Array.from({ length: 130 }, (_, i) => `r${i}`)
    for (const requestID of ids) {
      void test.execute({ toolID: 'client_c2_a', requestID: `other-${requestID}` })
      void test.execute({ toolID: 'client_c_a', requestID })
    }
    expect(await requestIDs(stream, 130)).toEqual(ids)
  })

  it('gets requests on every stream of the client, but no earlier ones (CT 1)', async () => {
    const test = new TestApp()
    await test.register('c', ['a'])
    const first = test.execute({ toolID: 'client_c_a', requestID: 'early' })
    await vi.advanceTimersByTimeAsync(0)
    const streams = [await test.open('/client-tools/pending/c'), await test.open('/client-tools/pending/c')]
    void test.execute({ toolID: 'client_c_a', requestID: 'late' })
    for (const stream of streams) expect(requestIDOf(await stream.next())).toBe('late')
    await test.submit('early', { status: 'success', title: '', output: '' })
    expect((await first).status).toBe(200)
  })

  it('gets a request of any size, as /event does (S16)', async () => {
    const test = new TestApp({ maxBody: 32 * 1024 * 1024 })
    await test.register('c', ['a'])
    const [stream, events] = [await test.open('/client-tools/pending/c'), await test.events()]
    const input = { text: 'x'.repeat(24 * 1024 * 1024) }
    void test.execute({ toolID: 'client_c_a', requestID: 'large', input })
    expect(requestIDOf(await stream.next())).toBe('large')
    expect(await events.types(2)).toEqual(['client-tool.executing', 'client-tool.request'])
    expect(test.logs).toEqual([])
  })

  it.each(['a/b', 'ż', '%41', '__proto__'])('can be opened by client %j', async (clientID) => {
    const test = new TestApp()
    await test.register(clientID, ['t'])
    const stream = await test.open(`/client-tools/pending/${encodeURIComponent(clientID)}`)
    void test.execute({ toolID: `client_${clientID}_t`, requestID: 'r' })
    expect(requestIDOf(await stream.next())).toBe('r')
    await stream.close()
    expect(await test.tools(clientID)).toEqual([])
  })
})

describe('the end of a pending stream', () => {
  it('fails the pending executions and then removes the tools, of this client only', async () => {
    const test = new TestApp()
    await test.register('c', ['b', 'a'])
    await test.register('d', ['x'])
    const stream = await test.open('/client-tools/pending/c')
    const answers = [
      test.execute({ toolID: 'client_c_a', requestID: 'r1' }),
      test.execute({ toolID: 'client_c_b', requestID: 'r2' }),
    ]
    const other = test.execute({ toolID: 'client_d_x', requestID: 'r3' })
    await vi.advanceTimersByTimeAsync(0)
    const events = await test.events()
    await stream.close()
    const failed = { type: 'client-tool.failed', properties: { error: 'Client disconnected' } }
    expect([await events.data(), await events.data(), await events.data()]).toMatchObject([
      failed,
      failed,
      { type: 'client-tool.unregistered', properties: { clientID: 'c', toolIDs: ['client_c_b', 'client_c_a'] } },
    ])
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([500, 500])
    expect((await test.submit('r1', { status: 'error', error: '' })).status).toBe(404)
    expect(await test.tools('d')).toEqual(['client_d_x'])
    await test.submit('r3', { status: 'error', error: 'still there' })
    expect((await other).text).toContain('still there')
  })

  it('publishes nothing for a client without tools', async () => {
    const test = new TestApp()
    const events = await test.events()
    const stream = await test.open('/client-tools/pending/c')
    await stream.close()
    await test.register('sentinel', [])
    expect(await events.types(1)).toEqual(['client-tool.registered'])
  })

  it('removes the client even if it has another stream, which stays open (CT 1)', async () => {
    const test = new TestApp()
    await test.register('c', ['a'])
    const [closing, staying] = [await test.open('/client-tools/pending/c'), await test.open('/client-tools/pending/c')]
    await closing.close()
    expect(await test.tools('c')).toEqual([])
    await test.register('c', ['b'])
    void test.execute({ toolID: 'client_c_b', requestID: 'r' })
    expect(requestIDOf(await staying.next())).toBe('r')
  })

  it('stops its pings', async () => {
    const test = new TestApp()
    const stream = await test.open('/client-tools/pending/c')
    expect(vi.getTimerCount()).toBe(1)
    await stream.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is published to every listener, however many executions it fails (S16)', async () => {
    const test = new TestApp({ rateLimit: { calls: 0, windowMs: 1 } })
    await test.register('c', ['a'])
    const stream = await test.open('/client-tools/pending/c')
    const answers: ReturnType<TestApp['execute']>[] = []
    while (answers.length < 5000) answers.push(test.execute({ toolID: 'client_c_a', callID: `${answers.length}` }))
    await requestIDs(stream, 5000)
    const [events, all] = [await test.events(), await test.open('/global/event')]
    await stream.close()
    const failures = [...Array<string>(5000).fill('client-tool.failed'), 'client-tool.unregistered']
    expect(await events.types(5001)).toEqual(failures)
    for (const type of failures) expect(await all.data()).toMatchObject({ payload: { type } })
    expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([500]))
    expect(test.logs).toEqual([])
  })

  it('is immediate for a reader that is too slow, and is logged (S16)', async () => {
    const test = new TestApp()
    await test.register('c', ['a'])
    const events = await test.events()
    const slow = await test.app.fetch(new Request('http://x/client-tools/pending/c'))
    const body = JSON.stringify({ toolID: 'client_c_a', input: { text: 'x'.repeat(1024 * 1000) } })
    const answers: ReturnType<TestApp['fetch']>[] = []
    while (answers.length < 17) {
      answers.push(test.fetch('/client-tools/execute', { method: 'POST', body }))
      // A stream that is read receives everything, in order.
      expect(await events.types(2)).toEqual(['client-tool.executing', 'client-tool.request'])
    }
    const failures = Array<string>(17).fill('client-tool.failed')
    expect(await events.types(18)).toEqual([...failures, 'client-tool.unregistered'])
    for (const { status, text } of await Promise.all(answers)) {
      expect([status, text]).toEqual([500, '{"error":{"code":"INTERNAL_ERROR","message":"Client disconnected"}}'])
    }
    expect(test.logs).toMatchObject([
      {
        level: 'warn',
        message: 'event queue full, stream ended',
        fields: { stream: 'pending', clientID: 'c', directory: '/home/test', events: 17 },
      },
    ])
    expect(await test.tools('c')).toEqual([])
    await expect(slow.text()).rejects.toThrow(SlowReaderError)
  })
})
