import { describe, expect, it } from 'vitest'
import { ChatApp, eventLine } from '../../testing/chat-app.ts'
import { eventually } from '../../testing/eventually.ts'
import { chatWhole, plain, type Script } from '../../testing/upstream.ts'

const lead = { GOOSE_LEAD_MODEL: 'lead-1', GOOSE_LEAD_TURNS: '1' }

/** A chat with a name, so that every request to the model is a turn. */
async function chat(environment: Record<string, string>): Promise<{ app: ChatApp; id: string }> {
  const app = await ChatApp.open(environment)
  const id = await app.chat()
  await app.call('PUT', `/sessions/${id}/name`, { name: 'Named' })
  return { app, id }
}

function says(content: string, model = 'gpt-4o'): Script {
  return plain(200, { model, choices: [{ message: { content } }], usage: { prompt_tokens: 1, completion_tokens: 1 } })
}

function calls(name: string, input = '{}'): Script {
  return plain(200, { choices: [{ message: { tool_calls: [{ id: 'c', function: { name, arguments: input } }] } }] })
}

function models(app: ChatApp): string[] {
  return app.upstream.asked.map(({ body }) => body.model)
}

describe('a lead and a worker', () => {
  it('take turns, are not streamed, and are announced before their messages (M59, M62)', async () => {
    const { app, id } = await chat(lead)
    app.upstream.answers(says('one', 'lead-1')).answers(says('two')).answers(says('three', 'other')).answers(chatWhole('four'))
    const first = await app.hear(id, 'hi')
    expect(first.map(eventLine)).toEqual(['ModelChange lead lead-1', 'assistant: one', 'Finish'])
    expect(first[1]).toMatchObject({ message: { id: null }, token_state: { totalTokens: 2 } })
    expect((await app.hear(id, 'hi')).map(eventLine)).toEqual(['ModelChange worker gpt-4o', 'assistant: two', 'Finish'])
    expect((await app.hear(id, 'hi')).map(eventLine)).toEqual(['ModelChange unknown other', 'assistant: three', 'Finish'])
    expect((await app.hear(id, 'hi')).map(eventLine)).toEqual(['assistant: four', 'Finish'])
    expect(models(app)).toEqual(['lead-1', 'gpt-4o', 'gpt-4o', 'gpt-4o'])
    expect(app.upstream.streamed).toEqual([])
    expect(await app.session(id)).toMatchObject({ provider_name: 'openai', model_config: { model_name: 'gpt-4o' } })
  })

  it('are identified by the names in the settings, including suffixes (M62)', async () => {
    const { app, id } = await chat({ ...lead, GOOSE_LEAD_MODEL: 'o9-high' })
    app.upstream.answers(plain(200, { choices: [{ message: { content: 'x' } }], usage: {} }))
    expect((await app.hear(id, 'hi'))[0]).toEqual({ type: 'ModelChange', model: 'o9', mode: 'unknown' })
    expect(app.upstream.asked[0]?.body).toMatchObject({ model: 'o9', reasoning_effort: 'high' })
  })

  it.each([
    ['a malformed request', calls('nobody__knows', 'no JSON'), 2],
    ['a doubt', says('Hm, ACTUALLY, no.'), 1],
    ['a refusal', says('Wrong file'), 1],
  ])('switch after %s, twice in a row (M60)', async (_, failure, asked) => {
    const { app, id } = await chat({ ...lead, GOOSE_LEAD_FALLBACK_TURNS: '2' })
    const answers = [failure, says('ok'), failure, failure, says('led'), failure, says('led again'), says('x')]
    const more = asked === 2 ? [says('at last')] : []
    for (const answer of [...answers, ...more]) app.upstream.answers(answer)
    while (app.upstream.asked.length < answers.length) await app.hear(id, 'hi')
    const [l, w] = ['lead-1', 'gpt-4o']
    expect(models(app).slice(0, 8)).toEqual([l, w, w, w, l, l, l, w])
  })

  it('do not switch when tools fail', async () => {
    const { app, id } = await chat({ ...lead, GOOSE_LEAD_FAILURE_THRESHOLD: '1' })
    for (const answer of [says('one'), calls('nobody__knows'), says('two')]) app.upstream.answers(answer)
    await app.hear(id, 'hi')
    await app.hear(id, 'hi')
    expect(models(app)).toEqual(['lead-1', 'gpt-4o', 'gpt-4o'])
  })

  it('count first responses that fail, and switch only after the first ones (M59)', async () => {
    const { app, id } = await chat({ ...lead, GOOSE_LEAD_FAILURE_THRESHOLD: '2', GOOSE_LEAD_FALLBACK_TURNS: '1' })
    for (const answer of [says('wrong'), says('wrong'), says('led'), says('x')]) app.upstream.answers(answer)
    for (let i = 0; i < 4; i++) await app.hear(id, 'hi')
    expect(models(app)).toEqual(['lead-1', 'gpt-4o', 'lead-1', 'gpt-4o'])
  })

  it('retry a failed call once with the lead, and report the first failure (M61)', async () => {
    const { app, id } = await chat({ ...lead, GOOSE_LEAD_FAILURE_THRESHOLD: '1' })
    const answers = [plain(404, 'a'), says('one', 'lead-1'), plain(404, 'b'), says('two', 'lead-1'), plain(404, 'gone'), plain(401, 'no')]
    for (const answer of answers) app.upstream.answers(answer)
    await app.hear(id, 'hi')
    expect((await app.hear(id, 'hi')).map(eventLine)).toEqual(['ModelChange lead lead-1', 'assistant: two', 'Finish'])
    expect((await app.hear(id, 'hi')).map(eventLine)[0]).toContain('Ran into this error: Request failed: Resource not found (404): gone.')
    const { asked } = app.upstream
    expect(models(app)).toEqual(['lead-1', 'lead-1', 'gpt-4o', 'lead-1', 'gpt-4o', 'lead-1'])
    expect(asked[3]?.body.messages).toEqual(asked[2]?.body.messages)
  })

  it('are also asked for names, without a fast model (M63)', async () => {
    const app = await ChatApp.open(lead)
    const id = await app.chat()
    app.upstream.answers(says('one'))
    await app.hear(id, 'hi')
    await eventually(() => {
      expect(models(app)).toHaveLength(2)
    })
    expect(models(app)).not.toContain('gpt-4o-mini')
  })

  it('have separate context limits (M57)', async () => {
    const limits = { GOOSE_CONTEXT_LIMIT: '5000', GOOSE_WORKER_CONTEXT_LIMIT: '6000', GOOSE_LEAD_CONTEXT_LIMIT: 'many' }
    const app = await ChatApp.open({ ...lead, ...limits })
    const id = await app.start()
    expect(await app.call('POST', '/agent/update_provider', { session_id: id, provider: 'openai', model: 'gpt-4o' })).toMatchObject({
      status: 400, text: "Invalid model config: Invalid value for 'GOOSE_LEAD_CONTEXT_LIMIT': 'many' - must be a positive integer",
    })
    const other = await chat({ ...lead, ...limits, GOOSE_LEAD_CONTEXT_LIMIT: '4096' })
    expect(await other.app.session(other.id)).toMatchObject({ model_config: { context_limit: 6000 } })
  })

  it.each([
    ['nothing', {}, 3],
    ['no number', { GOOSE_LEAD_TURNS: 'two' }, 3],
    ['no whole number', { GOOSE_LEAD_TURNS: '2.0' }, 3],
    ['too small', { GOOSE_LEAD_TURNS: '0' }, 3],
    ['too large', { GOOSE_LEAD_TURNS: '1000001' }, 3],
    ['two', { GOOSE_LEAD_TURNS: '2' }, 2],
  ])('have the turns of the settings: %s', async (_, settings, turns) => {
    const { app, id } = await chat({ GOOSE_LEAD_MODEL: 'lead-1', ...settings })
    for (let turn = 0; turn <= turns; turn++) {
      app.upstream.answers(says('x'))
      await app.hear(id, 'hi')
    }
    expect(models(app)).toEqual([...Array.from({ length: turns }, () => 'lead-1'), 'gpt-4o'])
  })

  it('start again with each provider, and need the name of a model', async () => {
    const { app, id } = await chat(lead)
    const provider = { session_id: id, provider: 'openai', model: 'gpt-4o' }
    app.upstream.answers(says('one')).answers(says('two'))
    await app.hear(id, 'hi')
    expect(await app.call('POST', '/agent/update_provider', provider)).toMatchObject({ status: 200 })
    await app.hear(id, 'hi')
    expect(models(app)).toEqual(['lead-1', 'lead-1'])

    const plainChat = await chat({ GOOSE_LEAD_MODEL: '' })
    plainChat.app.upstream.answers(says('x'))
    await plainChat.app.hear(plainChat.id, 'hi')
    expect(plainChat.app.upstream.asked[0]?.body).toMatchObject({ model: 'gpt-4o', stream: true })
  })

  it('are both created, or the earlier provider stays (M58)', async () => {
    const app = await ChatApp.open({ ...lead, GOOSE_LEAD_PROVIDER: 'nobody' })
    const id = await app.start()
    const asked = { session_id: id, provider: 'openai', model: 'gpt-4o' }
    expect(await app.call('POST', '/agent/update_provider', asked)).toMatchObject({
      status: 400, text: 'Failed to create openai provider: Unknown provider: nobody',
    })
    expect(await app.session(id)).toMatchObject({ provider_name: null })
  })
})
