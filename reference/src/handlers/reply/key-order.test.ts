import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pathId } from '../../domain/recipe/path-id.ts'
import { ChatApp } from '../../testing/chat-app.ts'
import { GooseApp } from '../../testing/goose-app.ts'
import { chatStream, wantsStream } from '../../testing/upstream.ts'

/** JSON whose keys a plain JavaScript object would reorder (G2). */
const free = '{"b":1,"10":{"z":[{"y":0,"0":1}],"7":"x"},"2":null}'
const messageOf = (content: string, role = 'assistant'): string =>
  `{"id":null,"role":"${role}","created":1,"content":[${content}],"metadata":{"userVisible":true,"agentVisible":true}}`
const request = `{"type":"toolRequest","id":"c","toolCall":{"status":"success","value":{"name":"t","arguments":${free}}}}`
const response = `{"type":"toolResponse","id":"c","toolResult":{"status":"success","value":[{"type":"text","text":"a","_meta":${free}}]}}`
const conversation = `[${messageOf('{"type":"text","text":"do"}', 'user')},${messageOf(request)},${messageOf(response, 'user')}]`

async function imported(app: GooseApp, conversation = '[]', data = '{}'): Promise<{ id: string; text: string }> {
  const times = '"created_at":"2025-01-01T00:00:00Z","updated_at":"2025-01-01T00:00:00Z"'
  const json = `{"id":"x","working_dir":"/w","name":"n",${times},"extension_data":${data},"message_count":0,"conversation":${conversation}}`
  const { status, text } = await app.call('POST', '/sessions/import', { json })
  expect(status).toBe(200)
  return { id: (JSON.parse(text) as { id: string }).id, text }
}

describe('free objects keep the order of their keys (G2)', () => {
  it('in sessions, their data and their messages, also after a restart', async () => {
    const app = new GooseApp()
    const { id, text } = await imported(app, conversation, free)
    const read = (await app.restarted().get(`/sessions/${id}`)).text
    for (const one of [text, read]) {
      expect(one).toContain(`"extension_data":${free}`)
      expect(one).toContain(`"arguments":${free}`)
      expect(one).toContain(`"_meta":${free}`)
    }
    const whole = JSON.parse((await app.get(`/sessions/${id}/export`)).text) as string
    expect(whole.replace(/\s/g, '')).toContain(`"extension_data":${free}`)
    const again = await app.call('POST', '/sessions/import', { json: whole })
    expect(again.text).toContain(`"arguments":${free}`)
  })

  it('in the data of a session when an extension adds to it', async () => {
    const app = await ChatApp.open()
    const { id } = await imported(app, '[]', free)
    await app.call('POST', '/agent/update_provider', { provider: 'openai', model: 'gpt-4o', session_id: id })
    await app.call('POST', '/agent/add_extension', { session_id: id, config: { type: 'platform', name: 'todo', description: null } })
    app.upstream
      .answers(chatStream({ calls: [{ id: 'c0', name: 'todo__todo_write', input: '{"content":"a"}' }] }), wantsStream)
      .answers(chatStream({ texts: ['ok'] }), wantsStream)
    await app.hear(id, 'go')
    expect((await app.get(`/sessions/${id}`)).text).toContain(`"extension_data":${free.slice(0, -1)},"todo.v0":{"content":"a"}}`)
  })

  it.each(['openai', 'anthropic'])('in schemas and arguments, to the model and back: %s', async (provider) => {
    const app = await ChatApp.open()
    writeFileSync(join(app.root, 'config/config.yaml'), `ANTHROPIC_HOST: ${app.upstream.url}\n`)
    writeFileSync(join(app.root, 'config/secrets.yaml'), 'ANTHROPIC_API_KEY: k\n')
    const { id } = await imported(app, conversation)
    expect(await app.call('POST', '/agent/update_provider', { provider, model: 'm', session_id: id })).toMatchObject({ status: 200 })
    const tool = `{"name":"t","inputSchema":{"type":"object","properties":${free},"1":0}}`
    const added = await app.send('POST', '/agent/add_extension', `{"session_id":"${id}","config":{"type":"frontend","name":"ui","description":null,"tools":[${tool}]}}`)
    expect(added.status).toBe(200)
    await app.hear(id, 'go')
    const asked = app.upstream.asked.find(wantsStream)?.text
    expect(asked).toContain(`{"type":"object","properties":${free},"1":0}`)
    expect(asked).toContain(provider === 'openai' ? JSON.stringify(free) : `"input":${free}`)
  })

  it('in the arguments that a model sends, and in the question about them', async () => {
    const app = await ChatApp.open({ GOOSE_MODE: 'approve' })
    const id = await app.chat()
    const input = `{"content":"a",${free.slice(1)}`
    await app.call('POST', '/agent/add_extension', { session_id: id, config: { type: 'platform', name: 'todo', description: null } })
    app.upstream
      .answers(chatStream({ calls: [{ id: 'c0', name: 'todo__todo_write', input }] }), wantsStream)
      .answers(chatStream({ texts: ['ok'] }), wantsStream)
    const reply = await app.open('/reply', {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: `{"session_id":"${id}","messages":[${messageOf('{"type":"text","text":"go"}', 'user')}]}`,
    })
    const told: string[] = []
    for (let block = await reply.next(); block !== null; block = await reply.next()) {
      told.push(block)
      if (!block.includes('toolConfirmation')) continue
      await app.call('POST', '/action-required/tool-confirmation', { id: 'c0', action: 'allow_once', sessionId: id })
    }
    expect(told.filter((block) => block.includes(`"arguments":${input}`)).length).toBeGreaterThanOrEqual(2)
    expect((await app.get(`/sessions/${id}`)).text).toContain(`"arguments":${input}`)
  })

  it('in recipes, including those of YAML files', async () => {
    const app = new GooseApp({ directory: '/' })
    const text = `{"title":"t","description":"d","prompt":"p","response":{"json_schema":${free}}}`
    const recipe = await app.send('POST', '/agent/start', `{"working_dir":"/w","recipe":${text}}`)
    expect(recipe.text).toContain(`"json_schema":${free}`)
    const library = join(app.root, 'config/recipes')
    mkdirSync(library, { recursive: true })
    const path = join(library, 'r.yaml')
    writeFileSync(path, text)
    const byFile = await app.call('POST', '/agent/start', { working_dir: '/w', recipe_id: pathId(path) })
    expect([byFile.status, byFile.text]).toEqual([200, expect.stringContaining(`"json_schema":${free}`)])
  })
})
