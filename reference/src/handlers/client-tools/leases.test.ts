import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { useFakeTimers } from '../../testing/fake-timers.ts'
import { GooseApp } from '../../testing/goose-app.ts'
import type { Answer, TestApp } from '../../testing/test-app.ts'

useFakeTimers(1_765_000_000_000)

async function lease(test: TestApp, seconds: unknown, names = ['a'], clientID = 'c', query = ''): Promise<Answer> {
  const tools = names.map((id) => ({ id, description: id, parameters: { type: 'object' } }))
  return test.send('POST', `/client-tools/register${query}`, JSON.stringify({ clientID, tools, lease: seconds }))
}

async function connectOnce(test: TestApp, query = ''): Promise<void> {
  await (await test.open(`/client-tools/pending/c${query}`)).close()
}

const tools = ['client_c_a']

describe('a lease (CT 14.4, S79)', () => {
  it('keeps the tools after the disconnect, and then removes them in the scope of the registration', async () => {
    const test = new GooseApp()
    await lease(test, 10, ['a'], 'c', '?directory=/one')
    const [one, stream] = [await test.events('?directory=/one'), await test.open('/client-tools/pending/c')]
    const call = test.execute({ toolID: 'client_c_a' })
    await stream.next()
    await vi.advanceTimersByTimeAsync(20_000) // it does not run yet
    await stream.close()
    expect((await call).text).toContain('Client disconnected')
    await vi.advanceTimersByTimeAsync(9999)
    expect(await test.tools('c')).toEqual(tools)
    await vi.advanceTimersByTimeAsync(1)
    expect(await test.tools('c')).toEqual([])
    expect(await one.data()).toEqual({ type: 'client-tool.unregistered', properties: { clientID: 'c', toolIDs: tools } })
    expect(readdirSync(join(test.root, 'data/leases')).filter((name) => name.endsWith('.json'))).toEqual([])
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1)
  })

  it('runs from the end of the last stream, and stops when one is opened', async () => {
    const test = new GooseApp()
    await lease(test, 10)
    const [first, second] = [await test.open('/client-tools/pending/c'), await test.open('/client-tools/pending/c')]
    await first.close()
    await vi.advanceTimersByTimeAsync(20_000)
    await second.close()
    await vi.advanceTimersByTimeAsync(9000)
    const third = await test.open('/client-tools/pending/c')
    await vi.advanceTimersByTimeAsync(20_000)
    expect(await test.tools('c')).toEqual(tools)
    await third.close()
    await vi.advanceTimersByTimeAsync(9000)
    await lease(test, 5)
    await vi.advanceTimersByTimeAsync(4999)
    expect(await test.tools('c')).toEqual(tools)
    await vi.advanceTimersByTimeAsync(1)
    expect(await test.tools('c')).toEqual([])
  })

  it('gives the requests that waited to the next stream of their scope, once', async () => {
    const test = new GooseApp()
    await lease(test, 100)
    await connectOnce(test)
    for (const requestID of ['1', '2']) void test.execute({ toolID: 'client_c_a', requestID, timeout: 90_000 })
    void test.execute({ toolID: 'client_c_a', requestID: 'other', timeout: 90_000 }, '?directory=/other')
    await vi.advanceTimersByTimeAsync(0)
    const stream = await test.open('/client-tools/pending/c')
    expect(await stream.next()).toContain('"requestID":"1"')
    expect(await stream.next()).toContain('"requestID":"2"')
    const other = await test.open('/client-tools/pending/c?directory=/other')
    expect(await other.next()).toContain('"requestID":"other"')
    const late = await test.open('/client-tools/pending/c')
    void test.execute({ toolID: 'client_c_a', requestID: '3' })
    expect(await late.next()).toContain('"requestID":"3"')
  })

  it.each<[string, (test: TestApp) => Promise<unknown>, string[]]>([
    ['a registration without one', (test) => test.register('c', ['b']), []],
    ['an unregistration', (test) => test.send('DELETE', '/client-tools/unregister', '{"clientID":"c"}'), []],
    ['an unregistration of the last tool', (test) => test.send('DELETE', '/client-tools/unregister', '{"clientID":"c","toolIDs":["a"]}'), []],
    ['not an unregistration that leaves a tool', (test) => test.send('DELETE', '/client-tools/unregister', '{"clientID":"c","toolIDs":["x"]}'), tools],
  ])('is ended by %s', async (_, end, left) => {
    const test = new GooseApp()
    await lease(test, 10)
    await end(test)
    await connectOnce(test)
    expect(await test.tools('c')).toEqual(left)
  })

  it('survives a restart, with what was left of it', async () => {
    const test = new GooseApp()
    await lease(test, 600, ['x'], 'z')
    await test.register('u', ['gone'])
    await lease(test, 10, ['a', 'client_b'])
    await connectOnce(test)
    await vi.advanceTimersByTimeAsync(4000)
    await test.app.stop()
    vi.setSystemTime(Date.now() + 3_600_000)
    const next = test.restarted()
    expect(await next.fetch('/client-tools/tools')).toMatchObject({
      text: expect.stringMatching(/^\{"client_z_x":.*"client_c_a":\{"id":"client_c_a","description":"a","parameters":\{"type":"object"\}\},"client_c_client_b":[^z]*$/) as string,
    })
    await vi.advanceTimersByTimeAsync(5999)
    expect(await next.tools('c')).toEqual(['client_c_a', 'client_c_client_b'])
    await vi.advanceTimersByTimeAsync(1)
    expect([await next.tools('c'), await next.tools('z')]).toEqual([[], ['client_z_x']])
    void next.execute({ toolID: 'client_z_x', requestID: 'r' })
    await vi.advanceTimersByTimeAsync(0)
    expect(await (await next.open('/client-tools/pending/z')).next()).toContain('"requestID":"r"')
  })

  it('survives a crash, with at most a second more', async () => {
    const test = new GooseApp()
    await lease(test, 10)
    await connectOnce(test)
    await vi.advanceTimersByTimeAsync(4500)
    writeFileSync(join(test.root, 'data/leases/broken.json'), '{')
    const next = test.restarted()
    await vi.advanceTimersByTimeAsync(5499)
    expect(await next.tools('c')).toEqual(tools)
    await vi.advanceTimersByTimeAsync(1001)
    expect(await next.tools('c')).toEqual([])
    expect(next.logs).toMatchObject([{ message: 'lease not read', fields: { file: 'broken.json' } }])
  })

  it.each<[unknown, object]>([
    [0, { origin: 'number', code: 'too_small', minimum: 1, inclusive: true, path: ['lease'], message: 'Too small: expected number to be >=1' }],
    [86_401, { origin: 'number', code: 'too_big', maximum: 86_400, inclusive: true, path: ['lease'], message: 'Too big: expected number to be <=86400' }],
    [1.5, { expected: 'int', format: 'safeint', code: 'invalid_type', path: ['lease'], message: 'Invalid input: expected int, received number' }],
    ['60', { expected: 'number', code: 'invalid_type', path: ['lease'], message: 'Invalid input: expected number, received string' }],
    [null, { expected: 'number', code: 'invalid_type', path: ['lease'], message: 'Invalid input: expected number, received null' }],
  ])('is never %j', async (seconds, issue) => {
    const { status, text } = await lease(new GooseApp(), seconds, [])
    expect([status, text]).toEqual([400, JSON.stringify({ data: { clientID: 'c', tools: [], lease: seconds }, error: [issue], success: false })])
  })
})
