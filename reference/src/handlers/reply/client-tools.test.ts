import { describe, expect, it } from 'vitest'
import type { ClientToolExecutionRequest, MessageEvent } from '#contract'
import type { AppOptions } from '../../app.ts'
import { ChatApp, eventLine, type ReplyReader } from '../../testing/chat-app.ts'
import type { EventReader } from '../../testing/event-reader.ts'
import { chatStream, wantsStream } from '../../testing/upstream.ts'

interface Call { id: string; name: string; input: string }

/** A session of the client `c`, which has the tool `t`, and whose model makes these calls and then says `ok`. */
async function started(
  { calls, mode = 'auto', parameters = {}, ...options }: { calls: Call[]; mode?: string; parameters?: object } & Partial<AppOptions>,
): Promise<{ app: ChatApp; id: string; events: EventReader }> {
  const app = await ChatApp.open({ GOOSE_MODE: mode }, options)
  await app.call('POST', '/client-tools/register', { clientID: 'c', tools: [{ id: 't', description: '', parameters }] })
  const id = await app.chat({ clientID: 'c' })
  app.upstream.answers(chatStream({ id: 'm1', calls }), wantsStream).answers(chatStream({ id: 'm2', texts: ['ok'] }), wantsStream)
  return { app, id, events: await app.events() }
}

interface BusEvent { type: string; properties: Record<string, unknown> }

/** The next event, which has to be of this type. */
async function heard(events: EventReader, type: string): Promise<Record<string, unknown>> {
  const event = (await events.data()) as BusEvent
  expect(event.type).toBe(type)
  return event.properties
}

/** The next request to the client. */
async function requested(events: EventReader): Promise<ClientToolExecutionRequest> {
  await heard(events, 'client-tool.executing')
  return (await heard(events, 'client-tool.request')).request as ClientToolExecutionRequest
}

function names(app: ChatApp, turn = 0): (string | undefined)[] {
  return (app.upstream.streamed[turn]?.tools ?? []).map((tool) => tool.function?.name)
}

/** The results among the remaining events of a reply. */
async function results(reply: ReplyReader): Promise<string[]> {
  return (await reply.rest()).map(eventLine).filter((text) => text.startsWith('user: result'))
}

async function question(reply: ReplyReader): Promise<string> {
  for (let event: MessageEvent | null; (event = await reply.next()) !== null; ) {
    if (eventLine(event).includes('toolConfirmation')) return eventLine(event)
  }
  throw new Error('the reply has no question')
}

const call: Call = { id: 'k', name: 'client_c_t', input: '{"n":1}' }
const success = { status: 'success', title: 'T', output: 'out', metadata: { b: 1, a: [] } }
const succeeded = 'user: result k {"status":"success","value":[{"type":"text","text":"out","_meta":{"clientTool":{"title":"T","metadata":{"b":1,"a":[]}}}}]}'
const unknown = 'user: result k {"status":"error","error":"-32603: -32002: client_c_t"}'
const declined = 'user: result k {"status":"success","value":[{"type":"text","text":"The user has declined this tool call. Do not try it again."}]}'

describe('the tools of a client in a model turn (CT 11.6)', () => {
  it('follow the tools of the server in registry order, and only those of the own client', async () => {
    const app = await ChatApp.open()
    const parameters = { type: 'object', properties: { b: {}, a: {} } }
    const tools = ['z', 'a', 'é 1'].map((id) => ({ id, description: `D${id}`, parameters }))
    await app.call('POST', '/client-tools/register', { clientID: 'c', tools })
    await app.register('other', ['x'])
    const id = await app.chat({ clientID: 'c' })
    app.upstream.answers(chatStream({ texts: ['hi'] }), wantsStream)
    await app.hear(id, 'hi')
    const own = ['dynamic_task__create_task', 'platform__manage_schedule', 'subagent__execute_task']
    const offered = ['client_c_z', 'client_c_a', 'ct_772abce1c6___1']
    expect(names(app)).toEqual([...own, ...offered])
    expect(app.upstream.streamed[0]?.tools?.at(-1)).toEqual({ type: 'function', function: { name: offered[2], description: 'Dé 1', parameters } })
    const listed = async (query: string): Promise<unknown[]> => JSON.parse((await app.get(`/agent/tools?session_id=${id}${query}`)).text) as unknown[]
    const infos = offered.map((name, index) => ({ name, description: `D${tools[index]?.id}`, parameters: ['b', 'a'], permission: null }))
    expect(await listed('&extension_name=client_tools')).toEqual(infos)
    expect(await listed('')).toEqual([...own.map((name) => expect.objectContaining({ name }) as unknown), ...infos])
    expect(await listed('&extension_name=other')).toEqual([])
    expect(JSON.parse((await app.get(`/agent/tools?session_id=${await app.start()}`)).text)).toHaveLength(3)
  })

  it('are not offered under the name of another tool, or with the permission deny', async () => {
    const app = await ChatApp.open({}, { permission: new Map([['client_c_no', 'deny']]) })
    await app.register('c', ['t', 'no', 'u'])
    const id = await app.chat({ clientID: 'c' })
    const frontend = { type: 'frontend', name: 'f', description: '', tools: [{ name: 'client_c_t', inputSchema: {} }] }
    await app.call('POST', '/agent/add_extension', { session_id: id, config: frontend })
    app.upstream.answers(chatStream({ texts: ['hi'] }), wantsStream)
    await app.hear(id, 'hi')
    expect(names(app)).toEqual(['client_c_t', 'dynamic_task__create_task', 'platform__manage_schedule', 'subagent__execute_task', 'client_c_u'])
    expect(app.logs.filter(({ message }) => message === 'client tools not offered')).toEqual([
      { level: 'warn', message: 'client tools not offered', fields: { session: id, count: 1, first: 'client_c_t' } },
    ])
    expect(JSON.parse((await app.get(`/agent/tools?session_id=${id}&extension_name=client_tools`)).text)).toMatchObject([{ name: 'client_c_u' }])
  })

  it('are offered from the next model call on, and a call goes to what its name meant when it was offered (S73)', async () => {
    const app = await ChatApp.open()
    const id = await app.chat({ clientID: 'c' })
    app.upstream
      .answers(async (response, asked) => {
        await app.register('c', ['t'])
        await chatStream({ id: 'm1', calls: [call] })(response, asked)
      }, wantsStream)
      .answers(async (response, asked) => {
        await app.send('DELETE', '/client-tools/unregister', '{"clientID":"c"}')
        await chatStream({ id: 'm2', calls: [call] })(response, asked)
      }, wantsStream)
      .answers(chatStream({ id: 'm3', texts: ['ok'] }), wantsStream)
    expect(await results(await app.say(id, 'hi'))).toEqual([unknown, unknown])
    expect([0, 1, 2].map((turn) => names(app, turn).includes('client_c_t'))).toEqual([false, true, false])
  })
})

describe('a model that calls a tool of a client (CT 11.6)', () => {
  it('gets what the client answers', async () => {
    const { app, id, events } = await started({ calls: [call] })
    const reply = await app.say(id, 'hi')
    const properties = { sessionID: id, messageID: 'm1', callID: 'k', tool: 'client_c_t', clientID: 'c' }
    expect(await heard(events, 'client-tool.executing')).toEqual(properties)
    const { request, clientID } = await heard(events, 'client-tool.request') as { clientID: string; request: ClientToolExecutionRequest }
    expect(clientID).toBe('c')
    expect(request).toMatchObject({ type: 'client-tool-request', sessionID: id, messageID: 'm1', callID: 'k', tool: 'client_c_t', input: { n: 1 } })
    expect(request.requestID).toMatch(/^c_k_\d{13}$/)
    await app.submit(request.requestID, success)
    expect(await heard(events, 'client-tool.completed')).toEqual({ ...properties, success: true })
    expect(await results(reply)).toEqual([succeeded])
    expect(await app.conversation(id)).toContain(succeeded)
    expect(app.upstream.streamed[1]?.messages.at(-1)).toEqual({ role: 'tool', tool_call_id: 'k', content: 'out' })
  })

  it('gets the attachments, and no unpaired surrogates (S75)', async () => {
    const { app, id, events } = await started({ calls: [call] })
    const reply = await app.say(id, 'hi')
    const attachments = [
      { mime: 'image/PNG', url: 'data:image/png;base64,aGk=' },
      5,
      { mime: 'text/plain; charset=utf-8', url: 'DATA:;base64,aMOp' },
      { mime: 'application/x+json', url: 'data:,;base64,e30=' },
      { mime: 'application/x+json', url: 'data:;base64,e30=' },
      { mime: 'text/plain', url: 'data:;base64,/w==' },
      { mime: 'audio/wav', url: 'data:;base64,' },
      { mime: 'audio/wav', url: 'data:;base64,aGk' },
      { mime: 'audio/wav', url: 'https://example.org/\ud800' },
      { mime: 'audio/wav', url: 'no url' },
      { url: 'https://example.org/' },
    ]
    const { requestID } = await requested(events)
    await app.submit(requestID, { status: 'success', title: '\ud800', output: '', metadata: { '\udc00': ['\\ud800', '\ud83d\ude00\ud83d'] }, attachments })
    const [result = ''] = await results(reply)
    expect(JSON.parse(result.slice('user: result k '.length))).toEqual({
      status: 'success',
      value: [
        { type: 'text', text: '', _meta: { clientTool: { title: '\ufffd', metadata: { '\ufffd': ['\\ud800', '\ud83d\ude00\ufffd'] } } } },
        { type: 'image', data: 'aGk=', mimeType: 'image/PNG' },
        { type: 'resource', resource: { uri: 'attachment://2', mimeType: 'text/plain; charset=utf-8', text: 'hé' } },
        { type: 'resource', resource: { uri: 'attachment://4', mimeType: 'application/x+json', text: '{}' } },
        { type: 'resource', resource: { uri: 'attachment://5', mimeType: 'text/plain', blob: '/w==' } },
        { type: 'resource', resource: { uri: 'attachment://6', mimeType: 'audio/wav', blob: '' } },
        { type: 'text', text: 'https://example.org/\ufffd' },
      ],
    })
    expect(await app.conversation(id)).toContain(result) // the stored conversation can be read
  })

  it.each([[1000, 1000], [1001, 0]])('gets metadata with %i levels as metadata with %i', async (sent, kept) => {
    const { app, id, events } = await started({ calls: [call] })
    const nested = (levels: number): unknown => JSON.parse('{"a":'.repeat(levels - 1) + '{}' + '}'.repeat(levels - 1))
    const reply = await app.say(id, 'hi')
    await app.submit((await requested(events)).requestID, { ...success, metadata: nested(sent) })
    const metadata = JSON.stringify(kept === 0 ? {} : nested(kept))
    expect(await results(reply)).toEqual([succeeded.replace('{"b":1,"a":[]}', metadata)])
  })

  it.each([[1000, 1000], [1001, 0]])('gets metadata with %i levels as metadata with %i', async (sent, kept) => {
    const { app, id, events } = await started({ calls: [call] })
    const nested = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
    const reply = await app.say(id, 'hi')
    const { requestID } = await requested(events)
    await app.submit(requestID, { ...success, metadata: JSON.parse(nested(sent)) as unknown })
    expect(await results(reply)).toEqual([succeeded.replace('{"b":1,"a":[]}', kept === 0 ? '{}' : nested(kept))])
  })

  it('calls several at once, each with its own request ID', async () => {
    const { app, id, events } = await started({ calls: [call, call] })
    const reply = await app.say(id, 'hi')
    const [first, second] = [await requested(events), await requested(events)]
    expect(second.requestID).toMatch(new RegExp(`^${first.requestID}_2$|^c_k_\\d+$`))
    await app.submit(second.requestID, { status: 'error', error: 'no' })
    await app.submit(first.requestID, success)
    expect(await results(reply)).toEqual([succeeded, 'user: result k {"status":"error","error":"no"}'])
    expect(app.upstream.streamed[1]?.messages.at(-1)?.content).toBe('Error: no')
  })

  it('by an alias, shows the alias, and sends the client the full ID and the converted arguments', async () => {
    const { app, id, events } = await started({ calls: [{ ...call, name: 'ct_01d7398c71___t', input: '{"n":"5"}' }] })
    const tool = { id: '! t', description: '', parameters: { properties: { n: { type: 'integer' } } } }
    await app.call('POST', '/client-tools/register', { clientID: 'c', tools: [tool] })
    await heard(events, 'client-tool.registered')
    const reply = await app.say(id, 'hi')
    const { requestID, ...request } = await requested(events)
    expect(request).toMatchObject({ tool: 'client_c_! t', input: { n: 5 } })
    await app.submit(requestID, success)
    await reply.rest()
    expect((await app.conversation(id))[1]).toBe('assistant: call k {"status":"success","value":{"name":"ct_01d7398c71___t","arguments":{"n":5}}}')
  })

  it('lets the reader of the reply see the progress (S77)', async () => {
    const { app, id, events } = await started({ calls: [call] })
    const reply = await app.say(id, 'hi')
    const { requestID } = await requested(events)
    await reply.next()
    await app.call('POST', '/client-tools/progress', { requestID, progress: 0.5, message: 'half' })
    const params = { progressToken: 'k', progress: 0.5, message: 'half' }
    expect(await reply.next()).toEqual({ type: 'Notification', request_id: 'k', message: { method: 'notifications/progress', params } })
    await app.submit(requestID, success)
    expect(await results(reply)).toEqual([succeeded])
  })

  it('gets the text of a failure', async () => {
    const disconnected = await started({ calls: [call] })
    const stream = await disconnected.app.open('/client-tools/pending/c')
    const reply = await disconnected.app.say(disconnected.id, 'hi')
    await stream.next()
    await stream.close()
    expect(await results(reply)).toEqual(['user: result k {"status":"error","error":"Client disconnected"}'])
    const late = await ChatApp.open({}, { defaultTimeout: 5 })
    await late.register('c', ['t'])
    const id = await late.chat({ clientID: 'c' })
    late.upstream.answers(chatStream({ calls: [call] }), wantsStream).answers(chatStream({ id: 'm2', texts: ['ok'] }), wantsStream)
    expect(await results(await late.say(id, 'hi'))).toEqual(['user: result k {"status":"error","error":"Client tool execution timed out after 5ms"}'])
  })
})

describe('a call of a client tool is withdrawn without an event (CT 11.6 item 8)', () => {
  it('when the client of the reply disconnects', async () => {
    const { app, id, events } = await started({ calls: [call] })
    const reply = await app.say(id, 'hi')
    const { requestID } = await requested(events)
    await reply.events.close()
    expect(await app.submit(requestID, success)).toMatchObject({ status: 404 })
    expect(await app.conversation(id)).toEqual(['user: hi'])
    await app.register('d', [])
    await heard(events, 'client-tool.registered')
  })

  it('when the session is deleted', async () => {
    const { app, id, events } = await started({ calls: [call] })
    const reply = await app.say(id, 'hi')
    const { requestID } = await requested(events)
    await app.fetch(`/sessions/${id}`, { method: 'DELETE' })
    expect(await app.submit(requestID, success)).toMatchObject({ status: 404 })
    expect((await reply.rest()).map(eventLine).at(-1)).toBe('Finish')
    await app.register('d', [])
    await heard(events, 'client-tool.registered')
  })

  it('when the agent is stopped, which fails this call and later ones of the reply', async () => {
    const { app, id, events } = await started({ calls: [call] })
    const reply = await app.say(id, 'hi')
    const { requestID } = await requested(events)
    app.upstream.answers(chatStream({ id: 'm3', texts: ['done'] }), wantsStream)
    await app.call('POST', '/agent/stop', { session_id: id })
    expect(await app.submit(requestID, success)).toMatchObject({ status: 404 })
    expect(await results(reply)).toEqual(['user: result k {"status":"error","error":"The agent was stopped"}'])
    await app.register('d', [])
    await heard(events, 'client-tool.registered')
  })
})

describe('the decision about a call of a client tool (CT 11.6 item 4)', () => {
  const confirm = (app: ChatApp, id: string, action: string): Promise<unknown> =>
    app.call('POST', '/action-required/tool-confirmation', { id: 'k', action, sessionId: id })

  const invalid = /^user: result k {"status":"error","error":"The client_c_t tool was called with invalid arguments: \/n: [^"]+ expected schema\."}$/
  const parameters = { properties: { n: { type: 'boolean' } } }

  it('is a question in the mode approve, before the guards', async () => {
    const { app, id } = await started({ calls: [call], mode: 'approve', permission: 'ask', parameters })
    const reply = await app.say(id, 'hi')
    await question(reply)
    await confirm(app, id, 'always_allow')
    expect(await results(reply)).toEqual([expect.stringMatching(invalid)])
    expect((await app.get(`/agent/tools?session_id=${id}&extension_name=client_tools`)).text).toContain('"permission":"always_allow"')
  })

  it('is one question if both goose and the guards ask', async () => {
    const { app, id, events } = await started({ calls: [call], mode: 'approve', permission: 'ask' })
    const reply = await app.say(id, 'hi')
    await question(reply)
    await confirm(app, id, 'allow_once')
    await app.submit((await requested(events)).requestID, success)
    expect((await reply.rest()).map(eventLine)).toEqual([succeeded, 'assistant: ok', 'Finish'])
  })

  it('is no call at all in the mode chat', async () => {
    const { app, id, events } = await started({ calls: [call], mode: 'chat', permission: 'ask', parameters })
    expect(await results(await app.say(id, 'hi'))).toEqual([expect.stringContaining('Tools do not run in chat mode.')])
    await app.register('d', [])
    await heard(events, 'client-tool.registered')
  })

  it('is one question of the guards in the mode auto, and calls that do not run are not counted', async () => {
    const { app, id, events } = await started({ calls: [call], permission: 'ask', rateLimit: { calls: 1, windowMs: 3_600_000 } })
    const refused = await app.say(id, 'hi')
    await question(refused)
    await confirm(app, id, 'deny')
    expect(await results(refused)).toEqual([declined])
    const again = async (): Promise<ReplyReader> => {
      app.upstream.answers(chatStream({ id: 'm1', calls: [call] }), wantsStream).answers(chatStream({ id: 'm2', texts: ['ok'] }), wantsStream)
      return app.say(id, 'again')
    }
    const allowed = await again()
    await question(allowed)
    await confirm(app, id, 'always_allow')
    await app.submit((await requested(events)).requestID, success)
    expect(await results(allowed)).toEqual([succeeded])
    expect(await results(await again())).toEqual(['user: result k {"status":"error","error":"Rate limit exceeded for client tools"}'])
  })

  it('is a failure, without a question, if a check of the guards fails', async () => {
    const { app, id } = await started({ calls: [call], permission: 'ask', parameters })
    expect((await app.hear(id, 'hi')).map(eventLine).slice(1)).toEqual([expect.stringMatching(invalid), 'assistant: ok', 'Finish'])
  })

  it('takes numbers as doubles, and sends the client their digits', async () => {
    const exact = { ...call, input: '{"n":1.0,"big":12345678901234567890}' }
    const numbers = { properties: { n: { const: 1 }, big: { type: 'integer' } } }
    const { app, id, events } = await started({ calls: [exact], parameters: numbers })
    const reply = await app.say(id, 'hi')
    await heard(events, 'client-tool.executing')
    const block = (await events.next()) ?? ''
    expect(block).toContain('"input":{"n":1.0,"big":12345678901234567890}')
    await app.submit(/"requestID":"([^"]+)"/.exec(block)?.[1] ?? '', success)
    expect(await results(reply)).toEqual([succeeded])
  })

  it('finds an unknown tool if it is gone after the question', async () => {
    const { app, id } = await started({ calls: [call], permission: 'ask' })
    const reply = await app.say(id, 'hi')
    await question(reply)
    await app.send('DELETE', '/client-tools/unregister', '{"clientID":"c"}')
    await confirm(app, id, 'allow_once')
    expect(await results(reply)).toEqual([unknown])
  })
})
