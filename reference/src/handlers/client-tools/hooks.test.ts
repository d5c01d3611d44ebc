import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ClientToolExecutionRequest } from '#contract'
import type { HookCommand } from '../../engine/hooks/hook-process.ts'
import { ChatApp, eventLine, type ReplyReader } from '../../testing/chat-app.ts'
import type { EventReader } from '../../testing/event-reader.ts'
import { eventually } from '../../testing/eventually.ts'
import { mcpServer } from '../../testing/programs.ts'
import { temporaryRoot } from '../../testing/temporary-root.ts'
import type { Answer } from '../../testing/test-app.ts'
import { chatStream, wantsStream } from '../../testing/upstream.ts'

/** A hook that runs this script for all tools. */
function sh(script: string, match = '*'): HookCommand {
  return { match, command: ['sh', '-c', script], timeoutMs: 60_000 }
}

function says(said: unknown): string {
  return `printf '%s' '${JSON.stringify(said)}'`
}

interface Given {
  before?: HookCommand[]
  after?: HookCommand[]
  mode?: string
  permission?: 'ask'
  parameters?: object
}

/** A session of the client `c`, which has the tool `t`, on a server with these hooks. */
async function started({ before = [], after = [], mode = 'auto', parameters = {}, ...options }: Given): Promise<{ app: ChatApp; id: string; events: EventReader }> {
  const environment = { GOOSE_MODE: mode, PATH: process.env.PATH ?? '' }
  const app = await ChatApp.open(environment, { hooks: { before, after }, directory: '/', ...options })
  onTestFinished(() => app.app.stop())
  await app.call('POST', '/client-tools/register', { clientID: 'c', tools: [{ id: 't', description: '', parameters }] })
  return { app, id: await app.chat({ clientID: 'c' }), events: await app.events() }
}

/** The next request to the client. */
async function requested(events: EventReader): Promise<ClientToolExecutionRequest> {
  await events.data()
  return ((await events.data()) as { properties: { request: ClientToolExecutionRequest } }).properties.request
}

const toolID = 'client_c_t'
const success = { status: 'success', title: 'T', output: 'out' }
const deny = sh(says({ decision: 'deny', reason: 'no' }))

function errorOf({ status, text }: Answer): unknown[] {
  const { error } = JSON.parse(text) as { error: { code: string; message: string } }
  return [status, error.code, error.message]
}

describe('a call on /client-tools/execute (CT 14.6, S85, S86)', () => {
  it('is refused by a hook, after the tool and the request ID and before the guards', async () => {
    const { app, events } = await started({ before: [sh(`grep -q '"n":1' || ${says({ decision: 'deny', reason: 'no' })}`)], parameters: { required: ['m'] } })
    expect(errorOf(await app.execute({ toolID: 'client_c_x' }))).toEqual([404, 'NOT_FOUND', 'Tool not found'])
    expect(errorOf(await app.execute({ toolID }))).toEqual([403, 'PERMISSION_DENIED', 'no'])
    expect(errorOf(await app.execute({ toolID, input: { n: 1 } }))).toEqual([400, 'INVALID_REQUEST', expect.stringContaining('invalid arguments')])
    void app.execute({ toolID, requestID: 'r', input: { n: 1, m: 1 } })
    await requested(events)
    expect(errorOf(await app.execute({ toolID, requestID: 'r' }))).toEqual([400, 'INVALID_REQUEST', 'Request ID is already pending'])
  })

  it('has the input that the hooks left, and its result their text; the events have what the client sent', async () => {
    const line = join(temporaryRoot(), 'line')
    const before = sh(says({ decision: 'allow', input: { n: 1 } }))
    const { app, events } = await started({ before: [before], after: [sh(`cat > ${line}; ${says({ output: 'new' })}`)], parameters: { properties: { n: { type: 'integer' } } } })
    const call = app.execute({ toolID, requestID: 'r', sessionID: 's', callID: 'k', input: { n: 'x' } })
    expect(await requested(events)).toMatchObject({ input: { n: 1 } })
    await app.submit('r', { ...success, metadata: {} })
    expect((await events.data()) as object).toMatchObject({ type: 'client-tool.completed' })
    expect((await call).text).toBe('{"status":"success","title":"T","output":"new","metadata":{}}')
    expect(readFileSync(line, 'utf8')).toBe(
      '{"event":"after","tool":"client_c_t","input":{"n":1},"sessionID":"s","callID":"k","clientID":"c","result":{"status":"success","output":"out"}}\n',
    )
    const failed = app.execute({ toolID, requestID: 'r2' })
    await requested(events)
    await app.submit('r2', { status: 'error', error: 'old' })
    expect((await events.data()) as object).toMatchObject({ type: 'client-tool.failed', properties: { error: 'old' } })
    expect(errorOf(await failed)).toEqual([500, 'INTERNAL_ERROR', 'new'])
    expect(errorOf(await app.execute({ toolID, timeout: 1 }))).toEqual([504, 'TIMEOUT', 'new'])
  })

  it('is not found if its tool goes while a hook runs', async () => {
    const root = temporaryRoot()
    const { app } = await started({ before: [sh(`echo > ${root}/runs; while ! test -e ${root}/go; do sleep 0.01; done`)] })
    const call = app.execute({ toolID })
    await eventually(() => {
      expect(existsSync(`${root}/runs`)).toBe(true)
    })
    await app.send('DELETE', '/client-tools/unregister', '{"clientID":"c"}')
    writeFileSync(`${root}/go`, '')
    expect(errorOf(await call)).toEqual([404, 'NOT_FOUND', 'Tool not found'])
  })

  it('fails when the server stops while a hook runs', async () => {
    const root = temporaryRoot()
    const { app } = await started({ before: [sh(`echo > ${root}/runs; sleep 600`)] })
    const call = app.execute({ toolID })
    await eventually(() => {
      expect(existsSync(`${root}/runs`)).toBe(true)
    })
    await app.app.stop()
    expect(errorOf(await call)).toEqual([500, 'INTERNAL_ERROR', 'Server is shutting down'])
  })
})

interface Call { id: string; name: string; input: string }

const ofClient: Call = { id: 'k', name: toolID, input: '{"n":"1"}' }
const ofServer: Call = { id: 'q', name: 'platform__manage_schedule', input: '{"n":1}' }

describe('the calls of a turn (S85, S86)', () => {
  async function turn(given: Given, ...calls: Call[]): Promise<{ app: ChatApp; id: string; events: EventReader; reply: ReplyReader }> {
    const { app, id, events } = await started(given)
    app.upstream.answers(chatStream({ id: 'm1', calls }), wantsStream).answers(chatStream({ id: 'm2', texts: ['ok'] }), wantsStream)
    return { app, id, events, reply: await app.say(id, 'hi') }
  }

  async function confirm(app: ChatApp, sessionId: string, id: string, action: string): Promise<void> {
    await app.call('POST', '/action-required/tool-confirmation', { id, action, sessionId })
  }

  /** The remaining events up to the first that has this text. */
  async function until(reply: ReplyReader, text: string): Promise<string[]> {
    const lines: string[] = []
    while (!(lines.at(-1) ?? '').includes(text)) {
      const event = await reply.next()
      if (event === null) throw new Error(`no event has ${text}: ${lines.join('\n')}`)
      lines.push(JSON.stringify(event))
    }
    return lines
  }

  it('fail if a hook refuses, whatever their tool is', async () => {
    const { reply } = await turn({ before: [deny], after: [sh(says({ output: 'never' }))] }, ofClient, ofServer, { id: 'u', name: 'unknown', input: '{}' })
    const results = (await reply.rest()).map(eventLine).filter((line) => line.startsWith('user: result'))
    expect(results).toEqual(['k', 'q', 'u'].map((id) => `user: result ${id} {"status":"error","error":"no"}`))
  })

  it('run with the input that the hooks leave, which is saved, and the hooks see the offered name', async () => {
    const root = temporaryRoot()
    const before = sh(`cat > ${root}/before; ${says({ decision: 'allow', input: { n: 2 } })}`)
    const after = sh(`cat > ${root}/after; ${says({ output: 'new' })}`)
    const given = { before: [before], after: [after], parameters: { properties: { n: { type: 'integer' } } } }
    const { app, id, events, reply } = await turn(given, ofClient)
    const { requestID, input } = await requested(events)
    expect(input).toEqual({ n: 2 })
    await app.submit(requestID, success)
    const lines = (await reply.rest()).map(eventLine)
    expect(lines[0]).toContain('"arguments":{"n":"1"}')
    expect(lines[1]).toBe('user: result k {"status":"success","value":[{"type":"text","text":"new","_meta":{"clientTool":{"title":"T","metadata":{}}}}]}')
    expect((await app.conversation(id))[1]).toContain('"arguments":{"n":2}')
    const call = `"sessionID":"${id}","callID":"k","clientID":"c"`
    expect(readFileSync(`${root}/before`, 'utf8')).toBe(`{"event":"before","tool":"client_c_t","input":{"n":1},${call}}\n`)
    expect(readFileSync(`${root}/after`, 'utf8')).toBe(`{"event":"after","tool":"client_c_t","input":{"n":2},${call},"result":{"status":"success","output":"out"}}\n`)
  })

  it('have hooks before the first question if goose does not ask, and after the answer if it does', async () => {
    const log = join(temporaryRoot(), 'log')
    const before = sh(`grep -o '"callID":"."' >> ${log}; ${says({ decision: 'allow', input: { n: 3 } })}`)
    const asked = { ...ofServer, id: 'a', name: 'dynamic_task__create_task' }
    const { app, id } = await started({ before: [before], mode: 'approve', permission: 'ask' })
    writeFileSync(join(app.root, 'config/permission.yaml'), `user: {always_allow: [${ofServer.name}], ask_before: [], never_allow: []}\n`)
    app.upstream.answers(chatStream({ calls: [asked, ofServer] }), wantsStream).answers(chatStream({ id: 'm2', texts: ['ok'] }), wantsStream)
    const reply = await app.say(id, 'hi')
    const [question = ''] = (await until(reply, 'toolConfirmation')).slice(-1)
    expect(question).toContain('"arguments":{"n":1}')
    expect(readFileSync(log, 'utf8')).toBe('"callID":"q"\n')
    await confirm(app, id, 'a', 'allow_once')
    await reply.rest()
    expect(readFileSync(log, 'utf8')).toBe('"callID":"q"\n"callID":"a"\n')
  })

  it('show the input that the hooks left when the guards ask', async () => {
    const { app, id, events, reply } = await turn({ before: [sh(says({ decision: 'allow', input: { n: 3 } }))], permission: 'ask' }, ofClient)
    const [question = ''] = (await until(reply, 'toolConfirmation')).slice(-1)
    expect(question).toContain('"arguments":{"n":3}')
    await confirm(app, id, 'k', 'allow_once')
    expect((await requested(events)).input).toEqual({ n: 3 })
  })

  it('have no hooks if they are declined, or in the mode chat', async () => {
    const [ran, log] = [join(temporaryRoot(), 'ran'), 'echo > ']
    const hooks = { before: [sh(log + ran)], after: [sh(log + ran)] }
    const { app, id, reply } = await turn({ ...hooks, mode: 'approve' }, ofClient)
    await until(reply, 'toolConfirmation')
    await confirm(app, id, 'k', 'deny')
    await reply.rest()
    await (await turn({ ...hooks, mode: 'chat' }, ofClient)).reply.rest()
    expect(existsSync(ran)).toBe(false)
  })

  it('have no hooks after them if they reach no tool', async () => {
    const { app, events, reply } = await turn({ after: [sh(says({ output: 'new' }))] }, ofServer, { id: 'u', name: 'unknown', input: '{}' }, ofClient)
    await requested(events)
    await app.send('DELETE', '/client-tools/unregister', '{"clientID":"c"}')
    await (await app.open('/client-tools/pending/c')).close()
    const results = (await reply.rest()).map(eventLine).filter((line) => line.startsWith('user: result'))
    expect(results).toEqual([
      'user: result q {"status":"error","error":"new"}',
      'user: result u {"status":"error","error":"-32603: -32002: unknown"}',
      'user: result k {"status":"error","error":"new"}',
    ])
  })

  it.each([
    ['mixed', 'a\nb', [{ type: 'text', text: 'new' }, { type: 'image', data: 'AAAA', mimeType: 'image/png' }]],
    ['none', '', [{ type: 'text', text: 'new' }, { type: 'image', data: 'AAAA', mimeType: 'image/png' }]],
  ])('have one text where hooks replace it: %s', async (text, seen, content) => {
    const line = join(temporaryRoot(), 'line')
    const { app, id } = await started({ after: [sh(`cat > ${line}; ${says({ output: 'new' })}`)] })
    const config = { type: 'stdio', name: 'ext', ...mcpServer }
    expect(await app.call('POST', '/agent/add_extension', { session_id: id, config })).toMatchObject({ status: 200 })
    const calls = [{ id: 'p', name: 'ext__parts', input: JSON.stringify({ text }) }]
    app.upstream.answers(chatStream({ calls }), wantsStream).answers(chatStream({ id: 'm2', texts: ['ok'] }), wantsStream)
    const lines = (await app.hear(id, 'hi')).map(eventLine)
    expect(lines[1]).toBe(`user: result p ${JSON.stringify({ status: 'success', value: content })}`)
    expect(readFileSync(line, 'utf8')).toContain(`"result":${JSON.stringify({ status: 'success', output: seen })}}\n`)
  })

  it('end with the reply, and so do their hooks', async () => {
    const root = temporaryRoot()
    const { app, reply } = await turn({ before: [sh(`echo $$ > ${root}/pid; sleep 600`)] }, ofServer)
    await eventually(() => {
      expect(existsSync(`${root}/pid`) && readFileSync(`${root}/pid`, 'utf8')).toMatch(/^\d+\n$/)
    })
    await reply.events.close()
    const pid = Number(readFileSync(`${root}/pid`, 'utf8'))
    await eventually(() => {
      expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    })
    expect(app.logs.filter(({ message }) => message === 'hook failed')).toEqual([])
  })
})

describe('a call of a server tool by a client (CT 14.3)', () => {
  it('has hooks under its own ID, without a client', async () => {
    const line = join(temporaryRoot(), 'line')
    const hooks = { before: [sh(`cat > ${line}`, 'platform__*')], after: [sh(says({ output: 'new' }), 'platform__*')] }
    const { app, id, events } = await started(hooks)
    void app.execute({ toolID, requestID: 'r', sessionID: id, callID: 'k' })
    await requested(events)
    const called = await app.call('POST', '/client-tools/call', { requestID: 'r', tool: ofServer.name, input: { n: 1 } })
    expect(called).toMatchObject({ status: 200, text: '{"status":"error","error":"new"}' })
    expect(readFileSync(line, 'utf8')).toBe(`{"event":"before","tool":"${ofServer.name}","input":{"n":1},"sessionID":"${id}","callID":"k.1"}\n`)
  })

  it('is refused by a hook', async () => {
    const { app, id, events } = await started({ before: [{ ...deny, match: 'platform__*' }] })
    void app.execute({ toolID, requestID: 'r', sessionID: id, callID: 'k' })
    await requested(events)
    const called = await app.call('POST', '/client-tools/call', { requestID: 'r', tool: ofServer.name })
    expect(called).toMatchObject({ status: 200, text: '{"status":"error","error":"no"}' })
  })
})
