import { describe, expect, it, vi } from 'vitest'
import type { EventReader } from '../../testing/event-reader.ts'
import { useFakeTimers } from '../../testing/fake-timers.ts'
import { TestApp } from '../../testing/test-app.ts'

const now = 1_765_000_000_000

useFakeTimers(now)

/** An app with the tool `client_x1_a`, and a reader of its events. */
async function setUp(): Promise<{ test: TestApp; events: EventReader }> {
  const test = new TestApp()
  await test.register('x1', ['a'])
  return { test, events: await test.events() }
}

/** Reads the two events of a call that has started, and returns its request ID. */
async function begun(events: EventReader): Promise<string> {
  await events.data()
  const { properties } = (await events.data()) as { properties: { request: { requestID: string } } }
  return properties.request.requestID
}

const toolID = 'client_x1_a'

describe('POST /client-tools/execute (CT 4.4)', () => {
  it('answers with the result of the client', async () => {
    const { test, events } = await setUp()
    const answer = test.execute({ toolID, callID: 'call_1' })
    const requestID = await begun(events)
    expect(requestID).toBe(`x1_call_1_${now}`)
    const metadata = { b: 1, a: [] }
    const result = { output: 'o', x: 1, metadata, title: 't', status: 'success', attachments: [{}] }
    const posted = await test.submit(requestID, result)
    expect([posted.status, posted.text]).toEqual([200, '{"success":true}'])
    const { status, headers, text } = await answer
    expect([status, text]).toEqual([
      200,
      '{"status":"success","title":"t","output":"o","metadata":{"b":1,"a":[]}}',
    ])
    expect(headers.get('Content-Type')).toBe('application/json')
    expect(await events.types(1)).toEqual(['client-tool.completed'])
  })

  it('leaves metadata out if the client sent none', async () => {
    const { test, events } = await setUp()
    const answer = test.execute({ toolID, requestID: 'r' })
    await begun(events)
    await test.submit('r', { status: 'success', title: '', output: '' })
    expect((await answer).text).toBe('{"status":"success","title":"","output":""}')
  })

  it('passes on the IDs and the input unchanged, and nothing else', async () => {
    const { test, events } = await setUp()
    const fields = { sessionID: 'ses_1', messageID: 'msg_1', callID: 'call_1', input: { b: '<ż>', a: [1.5] } }
    void test.execute({ toolID, requestID: 'req-1', x: 1, ...fields })
    await events.next()
    expect(await events.next()).toBe(
      'data: {"type":"client-tool.request","properties":{"clientID":"x1","request":{"type":"client-tool-request","requestID":"req-1","sessionID":"ses_1","messageID":"msg_1","callID":"call_1","tool":"client_x1_a","input":{"b":"<ż>","a":[1.5]}}}}\n\n',
    )
  })

  it.each(['boom', ''])('answers 500 with the error text %j of the client', async (error) => {
    const { test, events } = await setUp()
    const answer = test.execute({ toolID, requestID: 'r' })
    await begun(events)
    expect((await test.submit('r', { status: 'error', error })).text).toBe('{"success":true}')
    const { status, text } = await answer
    expect([status, text]).toEqual([500, `{"error":{"code":"INTERNAL_ERROR","message":"${error}"}}`])
  })

  it.each<[name: string, body: object, ms: number]>([
    ['of the request', { timeout: 400 }, 400],
    ['of the server', {}, 30_000],
    ['of the server for 0', { timeout: 0 }, 30_000],
    ['of the server for a negative one', { timeout: -1 }, 30_000],
  ])('answers 504 after the timeout %s', async (_, body, ms) => {
    const { test, events } = await setUp()
    const answer = test.execute({ toolID, requestID: 'r', ...body })
    await begun(events)
    await vi.advanceTimersByTimeAsync(ms)
    const message = `Client tool execution timed out after ${ms}ms`
    const { status, text } = await answer
    expect([status, text]).toEqual([504, `{"error":{"code":"TIMEOUT","message":"${message}"}}`])
    expect(await events.data()).toMatchObject({ type: 'client-tool.failed', properties: { error: message } })
    expect((await test.submit('r', { status: 'error', error: '' })).status).toBe(404)
    expect(await test.tools('x1')).toEqual([toolID]) // a timeout does not remove the tool
  })

  it('answers 500 when the client disconnects', async () => {
    const { test, events } = await setUp()
    const pending = await test.open('/client-tools/pending/x1')
    const answer = test.execute({ toolID })
    await begun(events)
    await pending.close()
    const { status, text } = await answer
    expect([status, text]).toEqual([500, '{"error":{"code":"INTERNAL_ERROR","message":"Client disconnected"}}'])
  })

  it('keeps a request pending when an invalid result is posted', async () => {
    const { test, events } = await setUp()
    const answer = test.execute({ toolID, requestID: 'r' })
    await begun(events)
    expect((await test.submit('r', { status: 'weird' })).status).toBe(400)
    expect((await test.submit('r', { status: 'error', error: 'E' })).status).toBe(200)
    expect((await answer).status).toBe(500)
  })

  it('completes an execution even if its tool is unregistered in the meantime (CT 4.2)', async () => {
    const { test, events } = await setUp()
    const answer = test.execute({ toolID, requestID: 'r' })
    await begun(events)
    await test.send('DELETE', '/client-tools/unregister', '{"clientID":"x1"}')
    expect((await test.submit('r', { status: 'success', title: 't', output: 'o' })).status).toBe(200)
    expect((await answer).status).toBe(200)
  })

  it('accepts only one of eight simultaneous results', async () => {
    const { test, events } = await setUp()
    const answer = test.execute({ toolID, requestID: 'r' })
    await begun(events)
    const posts = Array.from({ length: 8 }, (_, i) => test.submit('r', { status: 'success', title: `${i}`, output: '' }))
    const statuses = (await Promise.all(posts)).map(({ status }) => status).sort()
    expect(statuses).toEqual([200, 404, 404, 404, 404, 404, 404, 404])
    expect((await answer).status).toBe(200)
  })

  it('withdraws the request when its caller disconnects', async () => {
    const { test, events } = await setUp()
    const caller = new AbortController()
    const answer = test.execute({ toolID, requestID: 'r' }, '', { signal: caller.signal })
    await begun(events)
    const reason = new Error('caller gone')
    caller.abort(reason)
    await expect(answer).rejects.toBe(reason)
    expect((await test.submit('r', { status: 'error', error: '' })).status).toBe(404)
    await vi.advanceTimersByTimeAsync(60_000)
    await test.register('sentinel', [])
    expect(await events.types(1)).toEqual(['client-tool.registered'])
    expect(test.logs).toEqual([])
  })

  it('does not start if its caller has already disconnected', async () => {
    const { test } = await setUp()
    await expect(test.execute({ toolID, requestID: 'r' }, '', { signal: AbortSignal.abort() })).rejects.toThrow()
    expect((await test.submit('r', { status: 'error', error: '' })).status).toBe(404)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a rejected call', () => {
  const invalid = '{"error":{"code":"INVALID_REQUEST","message":"Invalid JSON body"}}'

  it.each(['', '{', '[]', '"s"', '5', '{}x', '{}{}', '{"timeout":1.5}', '{"input":[]}', '{"toolID":null}'])(
    'is malformed if its body is %j',
    async (body) => {
      const { test } = await setUp()
      const { status, text } = await test.fetch('/client-tools/execute', { method: 'POST', body })
      expect([status, text]).toEqual([400, invalid])
    },
  )

  it.each(['{}', 'null', '\ufeff{}', '{"toolID":"a"}', '{"toolID":"client_x1_b"}', '{"ToolID":"client_x1_a"}', '{"toolID":"__proto__"}'])(
    'names no known tool if its body is %j',
    async (body) => {
      const { test } = await setUp()
      const { status, text } = await test.fetch('/client-tools/execute', { method: 'POST', body })
      expect([status, text]).toEqual([404, '{"error":{"code":"NOT_FOUND","message":"Tool not found"}}'])
    },
  )

  it('has two directories (S3)', async () => {
    const { test } = await setUp()
    const { status, text } = await test.send('POST', '/client-tools/execute?directory=/a&directory=/b', '{')
    expect([status, text]).toEqual([
      400,
      '{"error":{"code":"INVALID_REQUEST","message":"Invalid input: expected string, received array"}}',
    ])
  })

  it('is too large (S6)', async () => {
    const test = new TestApp({ maxBody: 2 })
    expect((await test.send('POST', '/client-tools/execute', '{}')).status).toBe(404)
    const { status, text } = await test.send('POST', '/client-tools/execute', '{} ')
    expect([status, text]).toEqual([413, '{"error":{"code":"INVALID_REQUEST","message":"Request body too large"}}'])
  })

  it('has a request ID that is already pending (S11)', async () => {
    const { test, events } = await setUp()
    const first = test.execute({ toolID, requestID: 'r' })
    await begun(events)
    const { status, text } = await test.execute({ toolID, requestID: 'r' })
    expect([status, text]).toEqual([
      400,
      '{"error":{"code":"INVALID_REQUEST","message":"Request ID is already pending"}}',
    ])
    expect((await test.execute({ toolID: 'nope', requestID: 'r' })).status).toBe(404)
    await test.submit('r', { status: 'success', title: '', output: '' })
    expect((await first).status).toBe(200)
    expect(await events.types(1)).toEqual(['client-tool.completed'])
  })

  it('publishes nothing', async () => {
    const { test, events } = await setUp()
    await test.execute({ toolID: 'client_x1_b' })
    await test.execute([])
    await test.register('sentinel', [])
    expect(await events.types(1)).toEqual(['client-tool.registered'])
  })
})

describe('a request ID generated by the server', () => {
  it.each([{}, { requestID: '' }])('is unique while it is pending: %j', async (id) => {
    const { test, events } = await setUp()
    void test.execute({ toolID, callID: 'c', ...id })
    void test.execute({ toolID, callID: 'c', ...id })
    expect([await begun(events), await begun(events)]).toEqual([`x1_c_${now}`, `x1_c_${now}_2`])
  })
})
