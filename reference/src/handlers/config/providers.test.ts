import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GooseApp } from '../../testing/goose-app.ts'
import { keyringIn } from '../../testing/keyring.ts'
import { Upstream, plain } from '../../testing/upstream.ts'

const custom = { engine: 'openai_compatible', display_name: 'My One', api_url: 'http://127.0.0.1:1', api_key: 'sk', models: ['b', 'a'] }

function withFiles(files: Record<string, string>, environment: Record<string, string> = {}): GooseApp {
  const app = new GooseApp({ environment: { GOOSE_PROVIDER_SKIP_BACKOFF: 'true', ...environment } })
  mkdirSync(join(app.root, 'config/custom_providers'), { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(app.root, 'config', name), text)
  return app
}

describe('custom providers (GA 10.19)', () => {
  it('are created with a key, changed and removed', async () => {
    const app = withFiles({})
    expect((await app.call('POST', '/config/custom-providers', custom)).text).toBe('"Custom provider added - ID: custom_my_one"')
    const path = '/config/custom-providers/custom_my_one'
    expect(JSON.parse((await app.get(path)).text)).toMatchObject({ config: { api_key_env: 'CUSTOM_MY_ONE_API_KEY', headers: null }, is_editable: true })
    await app.call('PUT', path, { ...custom, engine: 'ollama_compatible', api_key: '', headers: { A: 'b' } })
    expect(JSON.parse((await app.get(path)).text)).toMatchObject({ config: { engine: 'ollama', headers: null } })
    expect(readFileSync(join(app.root, 'config/secrets.yaml'), 'utf8')).toBe('CUSTOM_MY_ONE_API_KEY: sk\n')
    expect(await app.fetch(path, { method: 'DELETE' })).toMatchObject({ status: 200 })
    expect(readFileSync(join(app.root, 'config/secrets.yaml'), 'utf8')).toBe('{}\n')
    expect((await app.get(path)).status).toBe(404)
  })

  it('are stored in full or not at all if they are rejected', async () => {
    const app = withFiles({})
    const tooLarge = { ...custom, models: Array.from({ length: 20_000 }, () => 'm') }
    for (const body of [{ ...custom, engine: 'openai' }, { ...custom, display_name: 'a/b' }, tooLarge]) {
      expect(await app.call('POST', '/config/custom-providers', body)).toMatchObject({ status: 500, text: '' })
    }
    expect(existsSync(join(app.root, 'config/secrets.yaml'))).toBe(false)
  })

  it('get different ids if several are created at once, also while the keyring takes its time (G62)', async () => {
    const app = withFiles({})
    const environment = { GOOSE_DISABLE_KEYRING: undefined, DBUS_SESSION_BUS_ADDRESS: keyringIn(app.root, {}) }
    const withKeyring = app.restarted({ environment })
    const answers = await Promise.all([1, 2, 3].map((key) => withKeyring.call('POST', '/config/custom-providers', { ...custom, api_key: `k${key}` })))
    await withKeyring.app.stop()
    expect(answers.map(({ text }) => text.split(': ')[1])).toEqual(['custom_my_one"', 'custom_my_one_1"', 'custom_my_one_2"'])
    const { items } = JSON.parse(readFileSync(join(app.root, 'keyring.json'), 'utf8')) as { items: unknown[] }
    const keys = '{"CUSTOM_MY_ONE_API_KEY":"k1","CUSTOM_MY_ONE_1_API_KEY":"k2","CUSTOM_MY_ONE_2_API_KEY":"k3"}'
    expect(items).toMatchObject([{ secret: keys }])
  })

  it('do not write secrets when a provider without one is removed', async () => {
    const app = withFiles({ 'custom_providers/x.json': 'broken' })
    expect((await app.fetch('/config/custom-providers/x', { method: 'DELETE' })).status).toBe(200)
    expect(existsSync(join(app.root, 'config/secrets.yaml'))).toBe(false)
  })
})

describe('POST /config/detect-provider (GA 10.18)', () => {
  it('prefers the first provider in its order, and does not read the stored keys', async () => {
    const upstream = await Upstream.start()
    const at = { OPENAI_HOST: `${upstream.url}/o`, ANTHROPIC_HOST: `${upstream.url}/a`, GOOGLE_HOST: `${upstream.url}/g`, OPENAI_API_KEY: '5' }
    const app = withFiles({ 'custom_providers/groq.json': '{}' }, at)
    upstream.answers(plain(401, '{}'), ({ path }) => path === '/a/v1/models')
    upstream.answers(plain(200, { data: [{ id: 'b' }, { id: 'a' }, 5] }), ({ path }) => path === '/o/v1/models')
    upstream.answers(plain(200, { models: [{ name: 'models/g' }] }), ({ path }) => path === '/g/v1beta/models')
    expect((await app.call('POST', '/config/detect-provider', { api_key: ' 12 ' })).text).toBe('{"provider_name":"openai","models":["a","b"]}')
    expect(upstream.asked.find(({ path }) => path.startsWith('/o'))?.headers.authorization).toBe('Bearer 12')
  })
})

describe('GET /config/providers/{name}/models (GA 10.20)', () => {
  it.each([
    ['openai', 429, '{}', 429], ['openai', 200, '{"error":{}}', 400], ['openai', 200, 'x', 500], ['anthropic', 403, '{}', 400],
    ['google', 400, '{}', 200], ['google', 400, 'x', 500], ['tetrate', 500, 'x', 200], ['tetrate', 200, '{}', 400], ['venice', 401, '{}', 500],
  ])('of %s, which answers %i %s, is a %i', async (name, status, body, expected) => {
    const upstream = await Upstream.start()
    const prefix = name.toUpperCase()
    const app = withFiles({}, { [`${prefix}_HOST`]: upstream.url, [`${prefix}_API_KEY`]: 'k' })
    for (let i = 0; i < 4; i++) upstream.answers(plain(status, body))
    expect(await app.get(`/config/providers/${name}/models`)).toMatchObject({ status: expected, text: expected === 200 ? '[]' : '' })
    expect(upstream.asked).toHaveLength(status === 429 ? 4 : 1)
    const why: unknown = status === 200 ? expect.stringMatching(/^the answer /) : `status ${status}`
    expect(app.logs.at(-1)).toMatchObject({ message: 'models not listed', fields: { provider: name, why } })
  })
})

describe('POST /config/set_provider (GA 10.17)', () => {
  it('stores both settings, or nothing if the provider cannot be built', async () => {
    const app = withFiles({ 'config.yaml': 'GOOSE_MODEL: old\n' })
    expect(await app.call('POST', '/config/set_provider', { provider: 'azure_openai', model: 'm' })).toMatchObject({
      status: 400, text: 'Configuration value not found: AZURE_OPENAI_ENDPOINT',
    })
    expect(await app.call('POST', '/config/set_provider', { provider: 'ollama', model: 'm' })).toMatchObject({ status: 200, text: '' })
    expect(readFileSync(join(app.root, 'config/config.yaml'), 'utf8')).toBe('GOOSE_MODEL: m\nGOOSE_PROVIDER: ollama\n')
  })
})
