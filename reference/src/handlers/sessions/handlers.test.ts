import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { SessionStore } from '../../store/session-store.ts'
import { GooseApp } from '../../testing/goose-app.ts'

const recipe = {
  title: 'Greet', description: 'Greets', instructions: 'Greet {{name}}',
  parameters: [{ key: 'name', input_type: 'string', requirement: 'required', description: 'Who' }],
}

function says(text: string, created = 100, metadata: object = { userVisible: true, agentVisible: true }): object {
  return { id: 'mine', role: 'user', created, content: [{ type: 'text', text }], metadata }
}

/** The text of an export with these members. */
function exported(members: object = {}): string {
  return JSON.stringify({
    id: '20200101_7', working_dir: '/w', name: 'n', created_at: '2020-01-01T00:00:00Z', updated_at: '2020-01-01T00:00:00+02:00',
    extension_data: {}, message_count: 0, ...members,
  })
}

async function imported(app: GooseApp, members: object = {}): Promise<{ id: string } & Record<string, unknown>> {
  const { status, text } = await app.call('POST', '/sessions/import', { json: exported(members) })
  expect(status).toBe(200)
  return JSON.parse(text) as { id: string }
}

async function get(app: GooseApp, target: string): Promise<Record<string, unknown>> {
  const { status, text } = await app.get(target)
  expect([target, status]).toEqual([target, 200])
  return JSON.parse(text) as Record<string, unknown>
}

const empty404 = { status: 404, text: '' }
const hostile = ['nope', '20200101_7', '..%2F..%2Fconfig%2Fconfig.yaml', '%00', '__proto__', 'constructor', "'%3B DROP", '%F0%9F%92%A9', 'a'.repeat(5000)]

describe('GET /sessions (GA 9.2)', () => {
  it('lists user and scheduled sessions that have messages, last updated first, without the messages', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2025-12-10T16:59:31Z') })
    const app = new GooseApp()
    await app.start()
    const ids: string[] = []
    for (const session_type of ['user', 'scheduled', 'sub_agent', 'hidden', 'terminal']) {
      ids.push((await imported(app, { session_type, conversation: [says('a')], name: session_type })).id)
    }
    expect(ids).toEqual(['20251210_2', '20251210_3', '20251210_4', '20251210_5', '20251210_6'])
    const list = async (): Promise<unknown[]> =>
      (await get(app, '/sessions')).sessions as { id: string; conversation: unknown; message_count: number }[]
    expect(await list()).toMatchObject([
      { id: '20251210_3', conversation: null, message_count: 1 },
      { id: '20251210_2', conversation: null, message_count: 1 },
    ])
    vi.setSystemTime(new Date('2025-12-10T16:59:32Z'))
    await app.call('PUT', '/sessions/20251210_2/name', { name: 'x' })
    expect(await list()).toMatchObject([{ id: '20251210_2' }, { id: '20251210_3' }])
    vi.useRealTimers()
  })

  it('is empty at first', async () => {
    expect(await new GooseApp().get('/sessions')).toMatchObject({ status: 200, text: '{"sessions":[]}' })
  })
})

describe('GET /sessions/{session_id} (GA 9.3)', () => {
  it('has the messages, including invisible ones', async () => {
    const app = new GooseApp()
    const conversation = [says('a'), says('b', 50, { userVisible: false, agentVisible: false })]
    const { id } = await imported(app, { conversation })
    expect(await get(app, `/sessions/${id}`)).toMatchObject({
      id,
      message_count: 2,
      conversation: [{ ...conversation[0], id: `msg_${id}_0` }, { ...conversation[1], id: `msg_${id}_1` }],
    })
    expect(await get(app, `/sessions/${await app.start()}`)).toMatchObject({ conversation: [], message_count: 0 })
  })

  it.each(hostile)('%s is unknown: 404 without a body', async (id) => {
    const app = new GooseApp()
    await app.start()
    for (const target of [`/sessions/${id}`, `/sessions/${id}/export`]) expect(await app.get(target)).toMatchObject(empty404)
    expect(await app.fetch(`/sessions/${id}`, { method: 'DELETE' })).toMatchObject(empty404)
  })

  it('is a 404 when a message cannot be read', async () => {
    const app = new GooseApp()
    const id = await app.start()
    appendFileSync(join(app.root, 'data/sessions/log', `${id}.jsonl`), 'nonsense\n')
    expect(await app.get(`/sessions/${id}`)).toMatchObject(empty404)
    expect(await app.get(`/sessions/${id}/export`)).toMatchObject(empty404)
    expect(app.logs).toMatchObject([{ message: 'session not readable' }, { message: 'session not readable' }])
  })

  it('is the only operation that fails then, also after a restart (G15)', async () => {
    const before = new GooseApp()
    const id = (await imported(before, { conversation: [says('a')], name: 'Mine' })).id
    appendFileSync(join(before.root, 'data/sessions/log', `${id}.jsonl`), 'nonsense\n')
    const app = before.restarted()
    expect(await get(app, '/sessions')).toMatchObject({ sessions: [{ id, name: 'Mine', message_count: 2 }] })
    expect(await app.get(`/sessions/${id}`)).toMatchObject(empty404)
    expect(await app.call('PUT', `/sessions/${id}/name`, { name: 'Other' })).toMatchObject({ status: 200 })
    expect(await get(app, '/sessions')).toMatchObject({ sessions: [{ id, name: 'Other' }] })
    const message = { role: 'user', created: 5, content: [{ type: 'text', text: 'hi' }], metadata: { userVisible: true, agentVisible: true } }
    expect(await app.call('POST', '/reply', { session_id: id, messages: [message] })).toMatchObject({
      text: 'data: {"type":"Error","error":"Session cannot be read"}\n\n',
    })
    expect(await app.fetch(`/sessions/${id}`, { method: 'DELETE' })).toMatchObject({ status: 200 })
  })

  it('accepts escaped letters, and does not take a static path for an id', async () => {
    const app = new GooseApp()
    const id = await app.start()
    expect(await app.get(`/sessions/${id.replace('_', '%5F')}`)).toMatchObject({ status: 200 })
    expect(await app.get('/sessions/import')).toMatchObject({ status: 405 })
    expect(await app.fetch('/sessions/insights', { method: 'DELETE' })).toMatchObject({ status: 405 })
    expect(await app.get('/sessions/')).toMatchObject(empty404)
  })
})

describe('DELETE /sessions/{session_id} (GA 9.4)', () => {
  it('works once', async () => {
    const app = new GooseApp()
    const id = await app.start()
    expect(await app.fetch(`/sessions/${id}`, { method: 'DELETE' })).toMatchObject({ status: 200, text: '' })
    expect(await app.fetch(`/sessions/${id}`, { method: 'DELETE' })).toMatchObject(empty404)
    expect(await app.restarted().get(`/sessions/${id}`)).toMatchObject(empty404)
    expect(await app.start()).toBe(id)
  })
})

describe('export and import (GA 9.5, 9.6)', () => {
  it.each([
    ['a little', 600, '', true],
    ['most', 800, '', false],
    ['some', 800, 'x'.repeat(600_000), true],
  ])('is indented or not when blanks are %s of a large text (G36)', async (_, levels, name, isIndented) => {
    const app = new GooseApp()
    const deep = `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`
    const text = exported({ name }).replace('"extension_data":{}', `"extension_data":${deep}`)
    const { id } = JSON.parse((await app.call('POST', '/sessions/import', { json: text })).text) as { id: string }
    const answer = JSON.parse((await app.get(`/sessions/${id}/export`)).text) as string
    expect(answer.startsWith('{\n')).toBe(isIndented)
    expect(JSON.parse(answer)).toEqual(JSON.parse((await app.get(`/sessions/${id}`)).text))
  })

  it('is the text of the session, as a JSON string', async () => {
    const app = new GooseApp()
    const { id } = await imported(app, { conversation: [says('<ż>', 5)], extension_data: { 'todo.v0': { n: 1 } } })
    const { headers, text } = await app.get(`/sessions/${id}/export`)
    expect(headers.get('Content-Type')).toBe('application/json')
    const session = await get(app, `/sessions/${id}`)
    expect(JSON.parse(text)).toBe(JSON.stringify(session, null, 2))
  })

  it('imports everything except ids, times, provider and model', async () => {
    const app = new GooseApp()
    const kept = {
      user_set_name: true, session_type: 'hidden', extension_data: { 'x.v1': [1, null] }, total_tokens: 1, input_tokens: 2, output_tokens: 3,
      accumulated_total_tokens: 4, accumulated_input_tokens: 5, accumulated_output_tokens: 6, schedule_id: 's',
      recipe: { version: '1.0.0', ...recipe }, user_recipe_values: { name: 'x' },
    }
    const model_config = {
      model_name: 'm', context_limit: 1, temperature: 0.5, max_tokens: 2, toolshim: true, toolshim_model: null, fast_model: null,
    }
    const session = await imported(app, {
      ...kept, conversation: [says('a')], message_count: 7, provider_name: 'openai', model_config,
    })
    expect(session).toMatchObject({ ...kept, working_dir: '/w', name: 'n', message_count: 1, provider_name: null, model_config: null })
    expect(session.id).not.toBe('20200101_7')
    expect(session.created_at).not.toMatch(/^2020/)
    expect(session.conversation).toEqual([{ ...says('a'), id: `msg_${session.id}_0` }])
    const text = JSON.parse((await app.get(`/sessions/${session.id}/export`)).text) as string
    const again = await app.call('POST', '/sessions/import', { json: text })
    expect(JSON.parse(again.text)).toMatchObject(kept)
  })

  it('accepts the old key of the name, and keeps all digits', async () => {
    const app = new GooseApp()
    expect(await imported(app, { name: undefined, description: 'old' })).toMatchObject({ name: 'old' })
    const json = exported().replace('"extension_data":{}', '"extension_data":{"x.v0":[1.0,9007199254740993]}')
    const { text } = await app.call('POST', '/sessions/import', { json })
    expect(text).toContain('"extension_data":{"x.v0":[1.0,9007199254740993]}')
    const { id } = JSON.parse(text) as { id: string }
    expect((await app.restarted().get(`/sessions/${id}`)).text).toContain('[1.0,9007199254740993]')
  })

  it.each([
    ['', 'x'],
    ['no JSON', '{'],
    ['something behind it', `${exported()} x`],
    ['no object', '[]'],
    ...['id', 'working_dir', 'name', 'created_at', 'updated_at', 'extension_data', 'message_count'].map((key) => [
      `no ${key}`, exported({ [key]: undefined }),
    ]),
    ['both names', exported({ description: 'd' })],
    ['a time that is none', exported({ created_at: 'today' })],
    ['an unknown type', exported({ session_type: 'robot' })],
    ['null for a type', exported({ session_type: null })],
    ['a count below zero', exported({ message_count: -1 })],
    ['a count beyond 64 bits', exported().replace('"message_count":0', '"message_count":9223372036854775808')],
    ['a context below zero', exported({ model_config: { model_name: 'm', toolshim: false, context_limit: -1 } })],
    ['tokens beyond 32 bits', exported({ total_tokens: 2 ** 31 })],
    ['a bad message', exported({ conversation: [{}] })],
    ['a bad recipe', exported({ recipe: {} })],
    ['a bad model', exported({ model_config: {} })],
    ['a provider that is no text', exported({ provider_name: 5 })],
    ['values that are no texts', exported({ user_recipe_values: { a: 1 } })],
  ])('rejects a text with %s: 400 without a body', async (_, json) => {
    const app = new GooseApp()
    expect(await app.call('POST', '/sessions/import', { json })).toMatchObject({ status: 400, text: '' })
    expect(await get(app, '/sessions/insights')).toMatchObject({ totalSessions: 0 })
  })

  it('is a 400 without a body when the session is deleted at once', async () => {
    const app = new GooseApp()
    const load = vi.spyOn(SessionStore.prototype, 'load').mockImplementationOnce(async function (this: SessionStore, id) {
      this.delete(id)
      return this.load(id)
    })
    const answer = await app.call('POST', '/sessions/import', { json: exported() })
    load.mockRestore()
    expect(answer).toMatchObject({ status: 400, text: '' })
    expect(answer.headers.get('Content-Type')).toBeNull()
  })

  it('is a 400 without a body when the session cannot be stored, and the log says why (G26)', async () => {
    const app = new GooseApp()
    writeFileSync(join(app.root, 'data/sessions'), '')
    expect(await app.call('POST', '/sessions/import', { json: exported() })).toMatchObject({ status: 400, text: '' })
    const err = { cause: { message: 'Session cannot be written', cause: { code: expect.any(String) as string } } }
    expect(app.logs.at(-1)).toMatchObject({ level: 'warn', message: 'request failed', fields: { path: '/sessions/import', err } })
  })

  it('rejects a body without a text', async () => {
    expect(await new GooseApp().call('POST', '/sessions/import', { json: {} })).toMatchObject({ status: 422 })
  })
})

describe('GET /sessions/insights (GA 9.7)', () => {
  it('counts sessions of every type, and their tokens', async () => {
    const app = new GooseApp()
    expect((await app.get('/sessions/insights')).text).toBe('{"totalSessions":0,"totalTokens":0}')
    await app.start()
    await imported(app, { total_tokens: 1, accumulated_total_tokens: 10, session_type: 'hidden' })
    await imported(app, { total_tokens: 5 })
    await imported(app, { total_tokens: 2 ** 31 - 1 })
    expect((await app.get('/sessions/insights')).text).toBe(`{"totalSessions":4,"totalTokens":${15 + 2 ** 31 - 1}}`)
  })
})

describe('PUT /sessions/{session_id}/name (GA 9.8)', () => {
  it.each([
    [' \t\u00a0x y\u0085\n', 'x y'],
    ['ż'.repeat(100), 'ż'.repeat(100)],
    [' '.repeat(300) + 'x', 'x'],
    ['\uFEFFx', '\uFEFFx'],
  ])('%j', async (given, name) => {
    const app = new GooseApp()
    const id = await app.start()
    expect(await app.call('PUT', `/sessions/${id}/name`, { name: given })).toMatchObject({ status: 200, text: '' })
    expect(await get(app.restarted(), `/sessions/${id}`)).toMatchObject({ name, user_set_name: true })
  })

  it.each(['', ' \u2003\n', 'x'.repeat(201), 'ż'.repeat(101)])('%j is refused: 400 without a body', async (name) => {
    const app = new GooseApp()
    const id = await app.start()
    expect(await app.call('PUT', `/sessions/${id}/name`, { name })).toMatchObject({ status: 400, text: '' })
    expect(await get(app, `/sessions/${id}`)).toMatchObject({ name: 'New session 1', user_set_name: false })
  })

  it.each(hostile)('of the unknown session %s is not an error', async (id) => {
    expect(await new GooseApp().call('PUT', `/sessions/${id}/name`, { name: 'x' })).toMatchObject({ status: 200, text: '' })
    expect(await new GooseApp().call('PUT', `/sessions/${id}/name`, { name: ' ' })).toMatchObject({ status: 400, text: '' })
  })
})

describe('PUT /sessions/{session_id}/user_recipe_values (GA 9.9)', () => {
  const put = (app: GooseApp, id: string, userRecipeValues: unknown): ReturnType<GooseApp['call']> =>
    app.call('PUT', `/sessions/${id}/user_recipe_values`, { userRecipeValues })

  it('renders the recipe, and leaves the stored one unchanged', async () => {
    const app = new GooseApp()
    const id = await app.start({ recipe })
    const { status, text } = await put(app, id, { name: 'Ann "{{x}}"\n', more: 'x' })
    expect(status).toBe(200)
    expect(JSON.parse(text)).toEqual({ recipe: { version: '1.0.0', ...recipe, instructions: 'Greet Ann "{{x}}"\n' } })
    expect(await get(app, `/sessions/${id}`)).toMatchObject({
      recipe: { instructions: 'Greet {{name}}' },
      user_recipe_values: { name: 'Ann "{{x}}"\n', more: 'x' },
    })
  })

  it('stores incomplete values: 400', async () => {
    const app = new GooseApp()
    const id = await app.start({ recipe })
    expect(await put(app, id, { other: 'x' })).toMatchObject({ status: 400, text: '{"message":"Missing required parameters"}' })
    expect(await get(app, `/sessions/${id}`)).toMatchObject({ user_recipe_values: { other: 'x' } })
  })

  it('is a 404 without a recipe, and stores the values', async () => {
    const app = new GooseApp()
    const id = await app.start()
    expect(await put(app, id, { a: 'b' })).toMatchObject({ status: 404, text: '{"message":"Recipe not found"}' })
    expect(await get(app, `/sessions/${id}`)).toMatchObject({ user_recipe_values: { a: 'b' } })
  })

  it.each(hostile)('is a 500 for the unknown session %s', async (id) => {
    expect(await put(new GooseApp(), id, {})).toMatchObject({ status: 500, text: '{"message":"Session not found"}' })
  })

  it('is a 500 when the recipe cannot be rendered', async () => {
    const app = new GooseApp()
    const id = await app.start({ recipe: { ...recipe, sub_recipes: [{ name: 's', path: 'none.yaml' }] } })
    expect(await put(app, id, { name: 'x' })).toMatchObject({
      status: 500, text: `{"message":"Recipe parsing failed: Sub-recipe file does not exist: ${join(app.root, 'config/recipes/none.yaml')}"}`,
    })
  })

  it.each([{ a: 1 }, [], null, { a: null }])('rejects %j: 422', async (values) => {
    expect(await put(new GooseApp(), 'x', values)).toMatchObject({ status: 422 })
  })
})

describe('POST /sessions/{session_id}/edit_message (GA 9.10)', () => {
  const edit = (app: GooseApp, id: string, body: object): ReturnType<GooseApp['call']> =>
    app.call('POST', `/sessions/${id}/edit_message`, body)
  const texts = async (app: GooseApp, id: string): Promise<unknown[]> =>
    ((await get(app, `/sessions/${id}`)).conversation as { content: { text: string }[] }[]).map(({ content }) => content[0]?.text)
  const conversation = [says('a', 10), says('b', 20), says('c', 20), says('d', 30)]

  it('truncates the session', async () => {
    const app = new GooseApp()
    const { id } = await imported(app, { conversation })
    expect(await edit(app, id, { timestamp: 31, editType: 'edit' })).toMatchObject({ status: 200, text: `{"sessionId":"${id}"}` })
    expect(await texts(app, id)).toEqual(['a', 'b', 'c', 'd'])
    await edit(app, id, { timestamp: 20, editType: 'edit' })
    expect(await texts(app, id)).toEqual(['a'])
    await edit(app, id, { timestamp: -9223372036854775, editType: 'edit' })
    expect(await get(app.restarted(), `/sessions/${id}`)).toMatchObject({ conversation: [], message_count: 0 })
  })

  it('truncates a copy, which has neither tokens nor the name', async () => {
    const app = new GooseApp()
    const original = await imported(app, {
      conversation, total_tokens: 5, accumulated_total_tokens: 6, session_type: 'scheduled', schedule_id: 's', extension_data: { 'x.v0': 1 },
      recipe, user_recipe_values: { name: 'x' }, user_set_name: true,
    })
    const { text } = await edit(app, original.id, { timestamp: 30 })
    const { sessionId } = JSON.parse(text) as { sessionId: string }
    expect(sessionId).not.toBe(original.id)
    expect(await get(app, `/sessions/${sessionId}`)).toMatchObject({
      name: '(edited)', user_set_name: false, working_dir: '/w', session_type: 'scheduled', schedule_id: 's', extension_data: { 'x.v0': 1 },
      user_recipe_values: { name: 'x' }, recipe: { title: 'Greet' }, total_tokens: null, accumulated_total_tokens: null, message_count: 3,
    })
    expect(await texts(app, sessionId)).toEqual(['a', 'b', 'c'])
    expect(await texts(app, original.id)).toHaveLength(4)
  })

  it.each(hostile)('of the unknown session %s returns its id, and cannot copy it', async (id) => {
    const app = new GooseApp()
    const decoded = JSON.stringify({ sessionId: decodeURIComponent(id) })
    expect(await edit(app, id, { timestamp: 1, editType: 'edit' })).toMatchObject({ status: 200, text: decoded })
    expect(await edit(app, id, { timestamp: 1, editType: 'fork' })).toMatchObject({ status: 500, text: '' })
  })

  it.each([{}, { timestamp: '1' }, { timestamp: 1.5 }, { timestamp: null }, { timestamp: 1, editType: 'copy' }, { timestamp: 1, editType: null }])(
    'refuses %j: 422',
    async (body) => {
      expect(await edit(new GooseApp(), 'x', body)).toMatchObject({ status: 422 })
    },
  )
})
