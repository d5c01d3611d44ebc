import { describe, expect, it, vi } from 'vitest'
import { useFakeTimers } from '../../testing/fake-timers.ts'
import { GooseApp } from '../../testing/goose-app.ts'
import type { EventReader } from '../../testing/event-reader.ts'
import { TestApp, type Answer } from '../../testing/test-app.ts'
import { compileParameters, UnusableSchemaError } from './input-schema.ts'
import { decisionFor, type PermissionRules } from './permission-rules.ts'

useFakeTimers()

const success = { status: 'success', title: '', output: '' }
const anyTool = { toolID: 'client_c_a', requestID: 'r' }
const userSaidNo = 'The user rejected permission to use this specific tool call. You may try again with different parameters.'

function codeAndMessage({ status, text }: Answer): [number, string, string] {
  const { error } = JSON.parse(text) as { error: { code: string; message: string } }
  return [status, error.code, error.message]
}

/** Registers a tool of client `c`. */
async function tool(test: TestApp, parameters: unknown = {}, id = 'a'): Promise<void> {
  await test.send('POST', '/client-tools/register', JSON.stringify({ clientID: 'c', tools: [{ id, description: '', parameters }] }))
}

interface Asked {
  type: string
  properties: { id: string }
}

async function question(events: EventReader): Promise<Asked['properties']> {
  const { type, properties } = (await events.data()) as Asked
  expect(type).toBe('permission.updated')
  return properties
}

async function answer(test: TestApp, id: string, response: unknown, session = 's'): Promise<Answer> {
  return test.send('POST', `/session/${session}/permissions/${id}`, JSON.stringify({ response }))
}

describe('permission (CT 10.2)', () => {
  it('that is denied publishes nothing, and leaves the request ID free (S14)', async () => {
    const test = new TestApp({ permission: new Map([['client_c_a', 'deny']]) })
    await tool(test)
    const events = await test.events()
    expect(codeAndMessage(await test.execute(anyTool))).toEqual([403, 'PERMISSION_DENIED', 'Client tools are not allowed for this agent'])
    await tool(test, {}, 'b')
    expect(await events.types(1)).toEqual(['client-tool.registered'])
    void test.execute({ ...anyTool, toolID: 'client_c_b' })
    expect(await events.types(2)).toEqual(['client-tool.executing', 'client-tool.request'])
  })

  it('is asked for, and the answer comes before the events of the execution (S67)', async () => {
    const test = new TestApp({ permission: 'ask' })
    await tool(test)
    const events = await test.events('?directory=/one')
    const call = { ...anyTool, sessionID: 's', messageID: 'm', callID: 'k', input: { b: 1 }, timeout: 500 }
    const first = test.execute(call, '?directory=/one')
    const { id, ...asked } = await question(events)
    expect(id).toMatch(/^per_[0-9a-z]{26}$/)
    const metadata = { tool: 'client_c_a', input: { b: 1 } }
    expect(JSON.stringify(asked)).toBe(
      JSON.stringify({ type: 'client_tool', sessionID: 's', messageID: 'm', callID: 'k', title: 'client_c_a', metadata, time: { created: Date.now() } }),
    )
    expect((await test.submit('r', success)).status).toBe(404)
    await vi.advanceTimersByTimeAsync(60_000) // the wait does not count
    expect(await answer(test, id, 'once', 'other')).toMatchObject({ status: 200, text: 'true' })
    expect(await events.data()).toEqual({ type: 'permission.replied', properties: { sessionID: 's', permissionID: id, response: 'once' } })
    expect(await events.types(2)).toEqual(['client-tool.executing', 'client-tool.request'])
    expect((await answer(test, id, 'reject')).text).toBe('true')
    await test.submit('r', success, '?directory=/one')
    expect((await first).status).toBe(200)
    expect(await events.types(1)).toEqual(['client-tool.completed'])
  })

  it('that is rejected fails the call', async () => {
    const test = new TestApp({ permission: 'ask' })
    await tool(test)
    const events = await test.events()
    const call = test.execute(anyTool)
    await answer(test, (await question(events)).id, 'reject')
    expect(codeAndMessage(await call)).toEqual([403, 'PERMISSION_DENIED', userSaidNo])
  })

  it('may be given for all calls of a tool in a session (S68)', async () => {
    const test = new TestApp({ permission: 'ask' })
    await tool(test)
    const events = await test.events()
    const open = test.execute({ ...anyTool, requestID: 'open' })
    const opened = await question(events)
    void test.execute(anyTool)
    await answer(test, (await question(events)).id, 'always')
    expect(await events.types(3)).toEqual(['permission.replied', 'client-tool.executing', 'client-tool.request'])
    void test.execute({ ...anyTool, requestID: 'r2' })
    expect(await events.types(2)).toEqual(['client-tool.executing', 'client-tool.request'])
    void test.execute({ ...anyTool, requestID: 'r3', sessionID: 'other' })
    await question(events)
    await answer(test, opened.id, 'reject')
    expect((await open).status).toBe(403)
  })

  it('ends when the caller or the client disconnects, or the server stops', async () => {
    const test = new TestApp({ permission: 'ask' })
    await tool(test)
    const events = await test.events()
    const caller = new AbortController()
    const left = test.execute(anyTool, '', { signal: caller.signal })
    const { id } = await question(events)
    caller.abort()
    await expect(left).rejects.toThrow()
    await answer(test, id, 'once')
    const stream = await test.open('/client-tools/pending/c')
    const call = test.execute(anyTool)
    await question(events)
    await stream.close()
    expect(codeAndMessage(await call)).toEqual([500, 'INTERNAL_ERROR', 'Client disconnected'])
    expect(await events.types(1)).toEqual(['client-tool.unregistered'])
    await tool(test)
    const last = test.execute(anyTool)
    await events.types(2)
    await test.app.stop()
    expect(codeAndMessage(await last)).toEqual([500, 'INTERNAL_ERROR', 'Server is shutting down'])
  })

  it('has a request ID that another call may take meanwhile (S14)', async () => {
    const test = new TestApp({ permission: new Map([['client_c_a', 'ask']]) })
    await tool(test)
    await tool(test, {}, 'b')
    const events = await test.events()
    const asked = test.execute(anyTool)
    const { id } = await question(events)
    void test.execute({ ...anyTool, toolID: 'client_c_b' })
    await answer(test, id, 'once')
    expect(codeAndMessage(await asked)).toEqual([400, 'INVALID_REQUEST', 'Request ID is already pending'])
  })

  it('lets no tool run that has gone meanwhile (S69)', async () => {
    const test = new TestApp({ permission: 'ask' })
    await tool(test)
    const events = await test.events()
    const call = test.execute(anyTool)
    const { id } = await question(events)
    await test.send('DELETE', '/client-tools/unregister', '{"clientID":"c"}')
    await answer(test, id, 'once')
    expect(codeAndMessage(await call)).toEqual([404, 'NOT_FOUND', 'Tool not found'])
  })

  it('is answered with one of three words', async () => {
    const test = new TestApp()
    for (const wrong of ['maybe', null, undefined]) {
      const { status, text } = await answer(test, 'p', wrong)
      expect(status).toBe(400)
      expect((JSON.parse(text) as { error: unknown }).error).toEqual([
        { code: 'invalid_value', values: ['once', 'always', 'reject'], path: ['response'], message: 'Invalid option: expected one of "once"|"always"|"reject"' },
      ])
    }
    expect((await test.send('POST', '/session/s/permissions/p', '["once"]')).status).toBe(400)
  })

  it.each<[PermissionRules, string]>([
    ['ask', 'ask'],
    [new Map([['client_*', 'allow'], ['client_c_*', 'deny']]), 'deny'],
    [new Map([['*', 'deny'], ['client_c_*', 'allow']]), 'allow'],
    [new Map([['*c_a*', 'ask'], ['*_a', 'deny']]), 'ask'],
    [new Map([['client_c_a*', 'deny']]), 'deny'],
    [new Map([['client_?_a', 'deny'], ['client.c.a', 'deny'], ['c_a', 'deny'], ['CLIENT_C_A', 'deny']]), 'allow'],
    [new Map([['*_c_a_a', 'deny'], ['*_a*_a', 'deny']]), 'allow'],
    [new Map([['client_*', 'ask'], ['*ent_c_a', 'deny']]), 'deny'],
  ])('follows the longest pattern: %j', (rules, decision) => {
    expect(decisionFor(rules, 'client_c_a')).toBe(decision)
  })
})

describe('the session (CT 10.1)', () => {
  it('must belong to the client, if it belongs to one', async () => {
    const test = new GooseApp()
    await tool(test)
    const [own, other, free] = [await test.start({ clientID: 'c' }), await test.start({ clientID: 'd' }), await test.start()]
    expect(codeAndMessage(await test.execute({ toolID: 'client_c_a', sessionID: other }))).toEqual([
      403, 'PERMISSION_DENIED', 'Client does not own this session',
    ])
    const events = await test.events()
    for (const sessionID of [own, free, 'unknown']) {
      const call = test.execute({ toolID: 'client_c_a', requestID: 'r', sessionID })
      await events.types(2)
      await test.submit('r', success)
      expect((await call).status).toBe(200)
      await events.types(1)
    }
  })
})

describe('the rate limit (CT 10.3, S69)', () => {
  it('allows so many calls in a window of the client, and counts only those that run', async () => {
    const test = new TestApp({ rateLimit: { calls: 2, windowMs: 1000 } })
    await tool(test, { required: ['n'] })
    await test.register('d', ['a'])
    const call = { toolID: 'client_c_a', input: { n: 1 } }
    expect((await test.execute({ ...call, input: {} })).status).toBe(400)
    void test.execute(call)
    void test.execute(call)
    expect(codeAndMessage(await test.execute(call))).toEqual([429, 'RATE_LIMITED', 'Rate limit exceeded for client tools'])
    void test.execute({ toolID: 'client_d_a', requestID: 'other' })
    await vi.advanceTimersByTimeAsync(0)
    expect((await test.submit('other', success)).status).toBe(200)
    const stream = await test.open('/client-tools/pending/c')
    await stream.close()
    await tool(test)
    await vi.advanceTimersByTimeAsync(999)
    expect((await test.execute(call)).status).toBe(429)
    await vi.advanceTimersByTimeAsync(1)
    void test.execute({ ...call, requestID: 'next' })
    await vi.advanceTimersByTimeAsync(0)
    expect((await test.submit('next', success)).status).toBe(200)
  })
})

describe('the schema of a tool (CT 10.4)', () => {
  it('rejects an input with one line for each violation, sorted', async () => {
    const test = new TestApp()
    await tool(test, { required: ['x'], properties: { b: { type: 'string' }, 'a/~': { maximum: 1 } } })
    const [status, code, message] = codeAndMessage(await test.execute({ toolID: 'client_c_a', input: { b: 1, 'a/~': 2 } }))
    expect([status, code]).toEqual([400, 'INVALID_REQUEST'])
    expect(message).toMatch(
      /^The client_c_a tool was called with invalid arguments: input: [^\n]+\n\/a~1~0: [^\n]+\n\/b: [^\n]+\.\nPlease rewrite the input so it satisfies the expected schema\.$/,
    )
  })

  it('has at most 20 lines of violations', () => {
    const check = compileParameters({ additionalProperties: { type: 'string' } })
    expect(check(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, i])))).toHaveLength(20)
  })

  it.each<[string, Record<string, unknown>]>([
    ['a remote reference', { $ref: 'https://example.com/s.json' }],
    ['a dangling reference', { $ref: '#/$defs/x' }],
    ['an unknown draft', { $schema: 'https://example.com/draft' }],
    ['draft-04', { $schema: 'http://json-schema.org/draft-04/schema#' }],
    ['an unknown type', { type: 'objekt' }],
    ['a pattern that looks ahead', { properties: { s: { pattern: '^(?=a)b' } } }],
    ['a pattern that refers back', { patternProperties: { '(a)\\1': {} } }],
    ['too many repeats', { properties: { s: { pattern: 'a{1001}' } } }],
    ['too many bytes', { description: 'x'.repeat(256 * 1024) }],
    ['too many levels', Array.from({ length: 200 }).reduce<Record<string, unknown>>((inner) => ({ not: inner }), {})],
    ['too many schemas', { properties: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`p${i}`, {}])) }],
  ])('with %s is not usable', (_, schema) => {
    expect(() => compileParameters(schema)).toThrow(UnusableSchemaError)
  })

  it('that is not usable does not constrain, and is logged once for each registration', async () => {
    const test = new TestApp()
    for (let i = 0; i < 2; i++) {
      await tool(test, { type: 'objekt' })
      for (const requestID of ['1', '2']) {
        void test.execute({ toolID: 'client_c_a', requestID })
        await vi.advanceTimersByTimeAsync(0)
        expect((await test.submit(requestID, success)).status).toBe(200)
      }
    }
    const line = { level: 'warn', message: 'schema of a client tool is not usable, input not checked', fields: { tool: 'client_c_a' } }
    expect(test.logs).toMatchObject([line, line])
  })

  it('stops an input that takes too long', () => {
    const check = compileParameters({ properties: { s: { pattern: '^(a+)+$' } } })
    expect(check({ s: 'a'.repeat(40) + 'b' })).toEqual(['validation took too long'])
    expect(check({ s: 'aaa' })).toEqual([])
  })

  it.each<[string, Record<string, unknown>, unknown, number]>([
    ['draft-07', { $schema: 'http://json-schema.org/draft-07/schema#', properties: { t: { items: [{ type: 'string' }] } } }, { t: [1] }, 1],
    ['2019-09', { $schema: 'https://json-schema.org/draft/2019-09/schema', properties: { t: { items: [{ type: 'string' }] } } }, { t: [1] }, 1],
    ['2020-12', { properties: { t: { prefixItems: [{ type: 'string' }] } } }, { t: [1] }, 1],
    ['a format, which does not constrain,', { properties: { m: { format: 'email' } } }, { m: '-' }, 0],
    ['an asynchronous one', { $async: true, required: ['n'] }, {}, 1],
  ])('of %s is known', (_, schema, input, faults) => {
    expect(compileParameters(schema)(input)).toHaveLength(faults)
  })
})
