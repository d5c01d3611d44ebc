import { describe, expect, it, vi } from 'vitest'
import { useFakeTimers } from '../../testing/fake-timers.ts'
import { TestApp, type Answer } from '../../testing/test-app.ts'

useFakeTimers()

async function report(test: TestApp, body: unknown, query = ''): Promise<Answer> {
  return test.send('POST', `/client-tools/progress${query}`, JSON.stringify(body))
}

async function running(timeout: number): Promise<{ test: TestApp; call: Promise<Answer> }> {
  const test = new TestApp()
  await test.register('c', ['a'])
  const call = test.execute({ toolID: 'client_c_a', requestID: 'r', sessionID: 's', messageID: 'm', callID: 'k', timeout })
  await vi.advanceTimersByTimeAsync(0)
  return { test, call }
}

describe('progress (CT 14.2, S77)', () => {
  it('is published in the scope of the execution, with what was sent', async () => {
    const { test } = await running(5000)
    const events = await test.events()
    expect(await report(test, { requestID: 'r', progress: 0 }, '?directory=/other')).toMatchObject({ status: 200, text: '{"success":true}' })
    const call = '"sessionID":"s","messageID":"m","callID":"k","clientID":"c","requestID":"r","tool":"client_c_a"'
    expect(await events.next()).toBe(`data: {"type":"client-tool.progress","properties":{${call},"progress":0}}\n\n`)
    await report(test, { requestID: 'r', progress: 2.5, total: -1, message: '', extra: 1 })
    expect(await events.next()).toBe(`data: {"type":"client-tool.progress","properties":{${call},"progress":2.5,"total":-1,"message":""}}\n\n`)
  })

  it('restarts the timer, and the text names the timeout', async () => {
    const { test, call } = await running(1000)
    for (let i = 0; i < 3; i++) {
      await vi.advanceTimersByTimeAsync(900)
      await report(test, { requestID: 'r', progress: i })
    }
    await vi.advanceTimersByTimeAsync(999)
    expect((await report(test, { requestID: 'r', progress: 9 })).status).toBe(200)
    await vi.advanceTimersByTimeAsync(1000)
    expect((await call).text).toContain('timed out after 1000ms')
    expect(await report(test, { requestID: 'r', progress: 9 })).toMatchObject({ status: 404, text: '{"error":"Unknown request ID"}' })
  })

  it('does not extend an execution beyond ten times its timeout', async () => {
    const { test, call } = await running(1000)
    for (let i = 0; i < 19; i++) {
      await vi.advanceTimersByTimeAsync(500)
      expect((await report(test, { requestID: 'r', progress: i })).status).toBe(200)
    }
    await vi.advanceTimersByTimeAsync(500)
    expect((await call).status).toBe(504)
  })

  it.each<[unknown, object]>([
    [{ requestID: 'r', progress: -0.5 }, { origin: 'number', code: 'too_small', minimum: 0, inclusive: true, path: ['progress'], message: 'Too small: expected number to be >=0' }],
    [{ requestID: 'r' }, { expected: 'number', code: 'invalid_type', path: ['progress'], message: 'Invalid input: expected number, received undefined' }],
    [{ requestID: 'r', progress: 1, total: null }, { expected: 'number', code: 'invalid_type', path: ['total'], message: 'Invalid input: expected number, received null' }],
    [{ requestID: 'r', progress: 1, message: 5 }, { expected: 'string', code: 'invalid_type', path: ['message'], message: 'Invalid input: expected string, received number' }],
  ])('is rejected: %j', async (body, issue) => {
    const { test } = await running(1000)
    expect((await report(test, body)).text).toBe(JSON.stringify({ data: body, error: [issue], success: false }))
  })
})
