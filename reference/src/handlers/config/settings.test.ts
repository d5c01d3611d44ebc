import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { GooseApp } from '../../testing/goose-app.ts'
import type { Answer } from '../../testing/test-app.ts'

/** A server with this text as its settings. */
function withSettings(text: string, environment: Record<string, string> = {}): GooseApp {
  const app = new GooseApp({ environment })
  writeFileSync(join(app.root, 'config/config.yaml'), text)
  return app
}

function read(app: GooseApp, key: string, isSecret = false): Promise<Answer> {
  return app.call('POST', '/config/read', { key, is_secret: isSecret })
}

function upsert(app: GooseApp, key: string, value: unknown, isSecret = false): Promise<Answer> {
  return app.call('POST', '/config/upsert', { key, value, is_secret: isSecret })
}

function remove(app: GooseApp, key: string, isSecret = false): Promise<Answer> {
  return app.call('POST', '/config/remove', { key, is_secret: isSecret })
}

const file = (app: GooseApp, name: string): string => readFileSync(join(app.root, 'config', name), 'utf8')

/** As Latin-1. */
const unreadable = 'a: \xff'

describe('GET /config (GA 10.1)', () => {
  it('shows the file as JSON, in its order', async () => {
    const app = withSettings('b: 1.50\na: &x [12345678901234567890123, .5]\nc: *x\n__proto__: {constructor: <<}\n', { B: 'env' })
    const { status, text, headers } = await app.get('/config')
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
    expect(text).toBe('{"config":{"b":1.50,"a":[12345678901234567890123,0.5],"c":[12345678901234567890123,0.5],"__proto__":{"constructor":"<<"}}}')
  })

  it('is 422 if the file cannot be read, and the cause is in the log', async () => {
    const app = new GooseApp()
    writeFileSync(join(app.root, 'config/config.yaml'), unreadable, 'latin1')
    expect(await app.get('/config')).toMatchObject({ status: 422, text: '' })
    expect(app.logs).toMatchObject([{ level: 'warn', message: 'request failed', fields: { path: '/config', err: { message: 'settings not read' } } }])
  })
})

describe('POST /config/read (GA 10.2)', () => {
  it('reads a key of the file, exactly, after the environment', async () => {
    const app = withSettings('Key: {a: 1.0}\nkey: x\nnothing: null\n', { KEY2: '007' })
    expect((await read(app, 'Key')).text).toBe('{"a":1.0}')
    expect((await read(app, 'key')).text).toBe('"x"')
    expect((await read(app, 'key2')).text).toBe('7')
    for (const key of ['nothing', 'KEY', 'nowhere', '', 'constructor', '__proto__']) expect(await read(app, key)).toMatchObject({ status: 200, text: 'null' })
  })

  it('shows the limits of models, whatever is stored', async () => {
    const app = withSettings('model-limits: mine\n', { 'MODEL-LIMITS': 'mine' })
    for (const isSecret of [true, false]) {
      const limits = JSON.parse((await read(app, 'model-limits', isSecret)).text) as unknown[]
      expect(limits).toHaveLength(41)
      expect([limits[0], limits.at(-1)]).toEqual([{ pattern: 'gpt-5', context_limit: 272_000 }, { pattern: 'kimi-k2', context_limit: 131_072 }])
    }
  })

  it("does not show the server's secret", async () => {
    const app = withSettings('{}', { GOOSE_SERVER__SECRET_KEY: 'test' })
    await upsert(app, 'GOOSE_SERVER__SECRET_KEY', 'x', true)
    for (const key of ['GOOSE_SERVER__SECRET_KEY', 'gooſe_server__secret_key']) {
      expect([(await read(app, key)).text, (await read(app, key, true)).text]).toEqual(['null', 'null'])
    }
  })

  it.each<[value: unknown, mask: string]>([
    ['abcdefghijklmnopqrstuvwxyz', 'abcdefgh******************'],
    ['abcd', 'ab**'],
    ['abc', 'a**'],
    ['a', '*'],
    ['', ''],
    ['😀😁😂😃', '😀😁**'],
    [12_345_678, '1234****'],
    [null, 'nu**'],
    [{ b: 1, a: [2] }, '{"b":1,********'],
  ])('masks the secret %j', async (value, mask) => {
    const app = withSettings('{}')
    await upsert(app, 'k', value, true)
    expect(JSON.parse((await read(app, 'k', true)).text)).toEqual({ maskedValue: mask })
    expect((await read(app, 'k')).text).toBe('null')
    expect((await app.get('/config')).text).toBe('{"config":{}}')
  })

  it('is 500 if the file cannot be read, unless a variable has the key', async () => {
    const app = new GooseApp({ environment: { A: 'env' } })
    for (const name of ['config.yaml', 'secrets.yaml']) writeFileSync(join(app.root, 'config', name), unreadable, 'latin1')
    for (const isSecret of [true, false]) {
      expect(await read(app, 'b', isSecret)).toMatchObject({ status: 500, text: '' })
      expect(await read(app, 'a', isSecret)).toMatchObject({ status: 200 })
    }
  })
})

describe('POST /config/upsert and /config/remove (GA 10.3, 10.4)', () => {
  it('change the file, or the secrets', async () => {
    const app = withSettings('a: 1\nb: 2\n')
    expect(await upsert(app, 'a', { x: null })).toMatchObject({ status: 200, text: '"Upserted key a"' })
    expect(await upsert(app, '__proto__', 'sk-secret', true)).toMatchObject({ status: 200, text: '"Upserted key __proto__"' })
    expect([file(app, 'config.yaml'), file(app, 'secrets.yaml')]).toEqual(['a:\n  x: null\nb: 2\n', '__proto__: sk-secret\n'])
    expect(await remove(app, 'a')).toMatchObject({ status: 200, text: '"Removed key a"' })
    expect(await remove(app, '__proto__', true)).toMatchObject({ status: 200, text: '"Removed key __proto__"' })
    expect(await remove(app, 'nowhere')).toMatchObject({ status: 200, text: '"Removed key nowhere"' })
    expect([file(app, 'config.yaml'), file(app, 'secrets.yaml'), file(app, 'config.yaml.bak')]).toEqual(['b: 2\n', '{}\n', 'b: 2\n'])
  })

  it('keep digits, the order of keys, and the last value of a repeated key', async () => {
    const app = withSettings('{}')
    const value = '{"b":1.0,"a":9007199254740993,"9":1,"10":-1,"b":0.1000000000000000055}'
    await app.send('POST', '/config/upsert', `{"is_secret":false,"value":${value},"key":"k"}`)
    expect((await read(app, 'k')).text).toBe('{"b":0.1000000000000000055,"a":9007199254740993,"9":1,"10":-1}')
  })

  it('take effect at once', async () => {
    const app = withSettings('{}')
    const shown = async (): Promise<unknown> => (JSON.parse((await app.get('/agent/tools?session_id=x')).text) as { permission: unknown }[])[0]?.permission
    await upsert(app, 'GOOSE_MODE', 'approve')
    expect(await shown()).toBe('ask_before')
    await remove(app, 'GOOSE_MODE')
    expect(await shown()).toBeNull()
  })

  it('lose nothing if several run at once (G42)', async () => {
    const app = withSettings('{}')
    const keys = Array.from({ length: 20 }, (_, i) => `k${i}`)
    await Promise.all(keys.flatMap((key) => [
      upsert(app, key, key), upsert(app, key, key, true), app.call('POST', '/config/extensions', { name: key, config: { type: 'builtin', name: key }, enabled: true }),
    ]))
    const { config } = JSON.parse((await app.get('/config')).text) as { config: Record<string, object> }
    expect(Object.keys(config)).toEqual(expect.arrayContaining([...keys, 'extensions']))
    expect(Object.keys(config.extensions ?? {})).toEqual(expect.arrayContaining(keys))
    for (const key of keys) expect((await read(app, key, true)).text).not.toBe('null')
  })

  it('refuse what the file cannot hold, and log no part of it', async () => {
    const app = withSettings('{}')
    const refused = [['deep', `["sk-secret",${'['.repeat(8000)}${']'.repeat(8000)}]`], ['large', `"sk-secret${'\\u0000'.repeat(200_000)}"`]] as const
    for (const isSecret of [true, false]) {
      await upsert(app, 'other', 'x'.repeat(1_000_000), isSecret)
      for (const [key, value] of refused) {
        expect(await app.send('POST', '/config/upsert', `{"key":"${key}","value":${value},"is_secret":${isSecret}}`)).toMatchObject({ status: 500, text: '' })
        expect((await read(app, key, isSecret)).text).toBe('null')
      }
    }
    expect(app.logs).toHaveLength(5)
    expect(inspect(app.logs, { depth: Infinity })).not.toContain('sk-secret')
  })

  it('log nothing of a file that is broken', async () => {
    const app = withSettings('PASSWORD: *sk-secret\n')
    writeFileSync(join(app.root, 'config/secrets.yaml'), 'PASSWORD: *sk-secret\n"sk-secret": "sk-secret\n')
    expect((await upsert(app, 'a', 1)).status).toBe(200)
    expect((await upsert(app, 'a', 1, true)).status).toBe(500)
    expect(app.logs.map(({ message }) => message)).toEqual(['settings replaced', 'secrets are in a file', 'request failed'])
    expect(inspect(app.logs, { depth: Infinity })).not.toContain('sk-secret')
  })

  it('are 500 and 404 if the file cannot be read', async () => {
    const app = new GooseApp()
    for (const name of ['config.yaml', 'secrets.yaml']) writeFileSync(join(app.root, 'config', name), unreadable, 'latin1')
    for (const isSecret of [true, false]) {
      expect(await upsert(app, 'a', 1, isSecret)).toMatchObject({ status: 500, text: '' })
      expect(await remove(app, 'a', isSecret)).toMatchObject({ status: 404, text: '' })
    }
    expect(app.logs.slice(1).map(({ message }) => message)).toEqual(Array(4).fill('request failed'))
  })

  it('require their fields in order', async () => {
    const app = withSettings('{}')
    const prefix = 'Failed to deserialize the JSON body into the target type: '
    expect(await app.send('POST', '/config/upsert', '{"key":"k"}')).toMatchObject({ status: 422, text: `${prefix}missing field \`value\` at line 1 column 11` })
    expect(await app.send('POST', '/config/remove', '{"is_secret":5}')).toMatchObject({ status: 422, text: `${prefix}missing field \`key\` at line 1 column 15` })
  })
})
