import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ClientToolExecutionRequest, MessageEvent } from '#contract'
import type { AppOptions } from '../../app.ts'
import { ChatApp, eventLine, type ReplyReader } from '../../testing/chat-app.ts'
import { eventually } from '../../testing/eventually.ts'
import { mcpServer } from '../../testing/programs.ts'
import type { Answer } from '../../testing/test-app.ts'
import { chatStream, wantsStream } from '../../testing/upstream.ts'

const extension = { type: 'stdio', name: 'ext', ...mcpServer }

/** A session of the client `c`, which has the tool `t`. The session has the scripted extension if the test needs it. */
async function started(mode = 'auto', { with: extensions = [], ...options }: Partial<AppOptions> & { with?: object[] } = {}): Promise<{ app: ChatApp; id: string }> {
  const app = await ChatApp.open({ GOOSE_MODE: mode, PATH: process.env.PATH ?? '' }, { directory: '/', ...options })
  onTestFinished(() => app.app.stop())
  await app.register('c', ['t'])
  const id = await app.chat({ clientID: 'c' })
  for (const config of extensions) expect((await app.call('POST', '/agent/add_extension', { session_id: id, config })).status).toBe(200)
  return { app, id }
}

/** Runs the tool of the client outside of a turn. Its call has the ID `k`. */
async function executing(app: ChatApp, sessionID: string, requestID = 'r'): Promise<{ outcome: Promise<Answer> }> {
  const events = await app.events()
  const outcome = app.execute({ toolID: 'client_c_t', requestID, sessionID, callID: 'k' })
  await events.types(2)
  return { outcome }
}

async function call(app: ChatApp, tool: string, input?: object, requestID = 'r', init: RequestInit = {}): Promise<Answer> {
  const headers = { 'Content-Type': 'application/json' }
  return app.fetch('/client-tools/call', { method: 'POST', body: JSON.stringify({ requestID, tool, input }), headers, ...init })
}

const success = { status: 'success', title: 'T', output: 'out' }
const schedule = 'platform__manage_schedule'
const notBuilt = `{"status":"error","error":"-32603: ${schedule} is not built on this server"}`
const ended = '{"status":"error","error":"The execution has ended"}'

function textOf(text: string): string {
  return JSON.stringify({ status: 'success', content: [{ type: 'text', text }] })
}

describe('POST /client-tools/call (CT 14.3, S80)', () => {
  it('checks the body, the key, the request and the tool, in this order', async () => {
    const { app, id } = await started()
    await executing(app, id)
    await executing(app, 'no session', 'other')
    const wrongKey = { headers: { 'X-Secret-Key': 'wrong', 'Content-Type': 'application/json' } }
    const invalid = await app.send('POST', '/client-tools/call', '{"requestID":1,"input":[]}', wrongKey.headers)
    expect([invalid.status, (JSON.parse(invalid.text) as { error: unknown }).error]).toEqual([
      400,
      [
        { expected: 'string', code: 'invalid_type', path: ['requestID'], message: 'Invalid input: expected string, received number' },
        { expected: 'string', code: 'invalid_type', path: ['tool'], message: 'Invalid input: expected string, received undefined' },
        { expected: 'record', code: 'invalid_type', path: ['input'], message: 'Invalid input: expected record, received array' },
      ],
    ])
    expect(await call(app, 'x', {}, 'unknown', wrongKey)).toMatchObject({ status: 401, text: '' })
    for (const requestID of ['unknown', '', 'other']) {
      expect(await call(app, 'x', {}, requestID)).toMatchObject({ status: 404, text: '{"error":"Unknown request ID"}' })
    }
    for (const tool of ['x', '', 'client_c_t']) expect(await call(app, tool)).toMatchObject({ status: 404, text: '{"error":"Unknown tool"}' })
    expect(await call(app, schedule)).toMatchObject({ status: 200, text: notBuilt })
  })

  it('knows no tool of a frontend', async () => {
    const config = { type: 'frontend', name: 'f', description: '', tools: [{ name: schedule, inputSchema: {} }] }
    const { app, id } = await started('auto', { with: [config] })
    await executing(app, id)
    expect(await call(app, schedule)).toMatchObject({ status: 404, text: '{"error":"Unknown tool"}' })
  })

  it('allows 100 calls of an execution, and does not count unknown tools', async () => {
    const { app, id } = await started()
    await executing(app, id)
    await executing(app, id, 'other')
    await call(app, 'x')
    for (let i = 0; i < 100; i++) expect((await call(app, schedule)).status).toBe(200)
    expect(await call(app, schedule)).toMatchObject({ status: 429, text: '{"error":{"code":"RATE_LIMITED","message":"Too many calls"}}' })
    expect((await call(app, 'x')).status).toBe(404)
    expect((await call(app, schedule, {}, 'other')).status).toBe(200)
  })
})

describe('a call outside of a turn (S81)', () => {
  it('gives what the model would get, with converted arguments and their digits', async () => {
    const { app, id } = await started('auto', { with: [extension] })
    await executing(app, id)
    const body = '{"requestID":"r","tool":"ext__echo","input":{"n":"5","b":1.50,"7":[],"0":"\\ud800"}}'
    const { text } = await app.send('POST', '/client-tools/call', body)
    expect(JSON.parse(text)).toEqual({ status: 'success', content: [{ type: 'text', text: '{"0":"\ufffd","7":[],"n":5,"b":1.5}' }] }) // the extension sorts them
    expect((await call(app, 'ext__complain')).text).toBe(textOf('it did not work'))
    expect((await call(app, 'ext__fail')).text).toBe('{"status":"error","error":"-32602: bad input ({\\"n\\":1})"}')
    expect((await call(app, 'ext__ask')).text).toBe('{"status":"error","error":"The user cannot be asked about this call"}')
    expect(await app.conversation(id)).toEqual([])
  })

  it.each([
    ['approve', '{"status":"error","error":"The user cannot be asked about this call"}'],
    ['chat', textOf('Tools do not run in chat mode. Explain what you would do with this call.')],
    ['auto', notBuilt],
  ])('runs or refuses a call without a question in the mode %s', async (mode, text) => {
    const { app, id } = await started(mode)
    await executing(app, id)
    expect((await call(app, schedule)).text).toBe(text)
  })

  it('fails if the permissions cannot be read', async () => {
    const { app, id } = await started('approve')
    writeFileSync(join(app.root, 'config/permission.yaml'), Buffer.from([0xff]))
    await executing(app, id)
    expect((await call(app, schedule)).text).toBe('{"status":"error","error":"Permissions cannot be read"}')
  })

  it('that looks dangerous is refused outside of a reply', async () => {
    const { app, id } = await started()
    await executing(app, id)
    expect((await call(app, schedule, { command: 'rm -rf /' })).text).toBe(notBuilt)
    const guarded = await ChatApp.open({ SECURITY_PROMPT_ENABLED: 'true' })
    await guarded.register('c', ['t'])
    await executing(guarded, await guarded.chat({ clientID: 'c' }))
    expect((await call(guarded, schedule, { command: 'rm -rf /' })).text).toBe('{"status":"error","error":"The user cannot be asked about this call"}')
  })
})

describe('a call that runs (S82)', () => {
  it.each<[how: string, end: (app: ChatApp, outcome: Promise<Answer>) => Promise<unknown>]>([
    ['has a result', (app) => app.submit('r', success)],
    ['fails', (app) => app.submit('r', { status: 'error', error: '' })],
    ['loses its client', async (app) => (await app.open('/client-tools/pending/c')).close()],
  ])('ends when its execution %s', async (_, end) => {
    const { app, id } = await started('auto', { with: [extension] })
    const { outcome } = await executing(app, id)
    const calls = [call(app, 'ext__hang'), call(app, 'ext__hang')]
    expect((await call(app, 'ext__echo')).text).toBe(textOf('{}'))
    await end(app, outcome)
    for (const { status, text } of await Promise.all(calls)) expect([status, text]).toEqual([200, ended])
    expect((await call(app, 'ext__echo')).status).toBe(404)
  })

  it('ends when its caller disconnects', async () => {
    const { app, id } = await started('auto', { with: [extension] })
    await executing(app, id)
    const caller = new AbortController()
    const hanging = call(app, 'ext__hang', {}, 'r', { signal: caller.signal })
    caller.abort(new Error('gone'))
    await expect(hanging).rejects.toThrow('gone')
    expect((await app.submit('r', success)).status).toBe(200)
  })
})

describe('a call in a turn (S81)', () => {
  const wanted = { id: 'k', name: 'client_c_t', input: '{}' }

  /** A turn whose model calls the tool of the client, which then runs. */
  async function inTurn(mode: string, extensions: object[] = []): Promise<{ app: ChatApp; id: string; reply: ReplyReader; requestID: string }> {
    const { app, id } = await started(mode, { with: extensions })
    app.upstream.answers(chatStream({ id: 'm1', calls: [wanted] }), wantsStream).answers(chatStream({ id: 'm2', texts: ['ok'] }), wantsStream)
    const events = await app.events()
    const reply = await app.say(id, 'hi')
    if (mode === 'approve') await allow(app, id, reply, 'k')
    await events.data()
    const { properties } = (await events.data()) as { properties: { request: ClientToolExecutionRequest } }
    return { app, id, reply, requestID: properties.request.requestID }
  }

  async function allow(app: ChatApp, sessionId: string, reply: ReplyReader, id: string, action = 'allow_once'): Promise<void> {
    await until(reply, `toolConfirmation ${id}`)
    await app.call('POST', '/action-required/tool-confirmation', { id, action, sessionId })
  }

  async function until(reply: ReplyReader, text: string): Promise<MessageEvent> {
    for (let event: MessageEvent | null; (event = await reply.next()) !== null; ) if (eventLine(event).includes(text)) return event
    throw new Error(`no event has ${text}`)
  }

  it('asks the user in its reply, with its own ID, and saves nothing', async () => {
    const { app, id, reply, requestID } = await inTurn('approve')
    const first = call(app, schedule, { action: 'list' }, requestID)
    await allow(app, id, reply, 'k.1')
    expect((await first).text).toBe(notBuilt)
    const second = call(app, schedule, {}, requestID)
    await allow(app, id, reply, 'k.2', 'deny')
    expect((await second).text).toBe(textOf('The user has declined this tool call. Do not try it again.'))
    await app.submit(requestID, success)
    await reply.rest()
    expect((await app.conversation(id)).map((line) => line.slice(0, 20))).toEqual(['user: hi', 'assistant: call k {"', 'user: result k {"sta', 'assistant: ok'])
  })

  it('reports to its reply, and its extension asks there', async () => {
    const { app, id, reply, requestID } = await inTurn('auto', [extension])
    expect((await call(app, 'ext__tell', {}, requestID)).text).toBe(textOf('told'))
    const notified = await until(reply, 'notifications/progress')
    expect(notified).toMatchObject({ request_id: 'k.1', message: { params: { progressToken: 'k.1' } } })
    const asking = call(app, 'ext__ask', {}, requestID)
    const question = eventLine(await until(reply, 'elicitation'))
    const answer = { actionType: 'elicitationResponse', id: question.split(' ').at(-1), user_data: { name: 'Ada' } }
    await app.hear(id, { type: 'actionRequired', data: answer })
    expect((await asking).text).toBe(textOf('{"action":"accept","content":{"name":"Ada"}}'))
  })

  it('ends with its reply', async () => {
    const { app, reply, requestID } = await inTurn('auto', [extension])
    const hanging = call(app, 'ext__hang', {}, requestID)
    expect((await call(app, 'ext__echo', {}, requestID)).status).toBe(200)
    await reply.events.close()
    expect((await hanging).text).toBe(ended)
    await eventually(async () => {
      expect((await call(app, 'ext__echo', {}, requestID)).status).toBe(404)
    })
  })
})
