import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GooseApp } from '../../testing/goose-app.ts'
import type { Answer } from '../../testing/test-app.ts'

function withSettings(text: string, environment: Record<string, string> = {}): GooseApp {
  const app = new GooseApp({ environment })
  writeFileSync(join(app.root, 'config/config.yaml'), text)
  return app
}

const platform = ['todo', 'chatrecall', 'extensionmanager', 'skills']

async function listed(app: GooseApp): Promise<{ name: string; enabled: boolean }[]> {
  return (JSON.parse((await app.get('/config/extensions')).text) as { extensions: { name: string; enabled: boolean }[] }).extensions
}

async function names(app: GooseApp): Promise<string[]> {
  return (await listed(app)).map(({ name }) => name)
}

/** The mapping in the file. */
async function stored(app: GooseApp): Promise<Record<string, unknown>> {
  return (JSON.parse((await app.get('/config')).text) as { config: { extensions: Record<string, unknown> } }).config.extensions
}

function add(app: GooseApp, name: string, inner = name, more: object = {}): Promise<Answer> {
  return app.call('POST', '/config/extensions', { name, config: { type: 'builtin', name: inner, ...more }, enabled: true })
}

function remove(app: GooseApp, name: string): Promise<Answer> {
  return app.fetch(`/config/extensions/${encodeURIComponent(name)}`, { method: 'DELETE' })
}

describe('GET /config/extensions (GA 10.9)', () => {
  it('shows every field of each extension, disabled ones too', async () => {
    const app = withSettings('extensions:\n  x: {name: x, type: builtin, enabled: false, more: 1}\n')
    const entry = '{"enabled":false,"type":"builtin","name":"x","description":"","display_name":null,"timeout":null,"bundled":null,"available_tools":[]}'
    expect((await app.get('/config/extensions')).text.startsWith(`{"extensions":[${entry},{"enabled":true,"type":"platform","name":"todo",`)).toBe(true)
  })

  it('leaves malformed entries out, and adds the platform extensions that have no entry', async () => {
    const app = withSettings('extensions:\n  bad: {type: builtin, name: x}\n  todo: 5\n  Skills: {enabled: true, type: builtin, name: s}\n')
    expect(await names(app)).toEqual(['s', 'chatrecall', 'Extension Manager', 'skills'])
  })

  it.each(['{}', 'extensions: {}', 'extensions:', 'extensions: [1]', 'extensions: x'])('is empty for the settings %j', async (text) => {
    expect(await names(withSettings(text))).toEqual([])
  })

  it('is that of the environment, even if it is null', async () => {
    const text = 'extensions: {f: {enabled: true, type: builtin, name: f}}\n'
    expect((await names(withSettings(text, { EXTENSIONS: '{"e":{"enabled":true,"type":"builtin","name":"e"}}' })))[0]).toBe('e')
    expect(await names(withSettings(text, { EXTENSIONS: 'null' }))).toEqual([])
  })
})

describe('POST /config/extensions (GA 10.10)', () => {
  it('stores all fields under the key of the inner name', async () => {
    const app = withSettings('a: 1\n')
    expect(await add(app, 'outer', 'My Ext-1', { timeout: 5 })).toMatchObject({ status: 200, text: '"Added extension outer"' })
    expect(readFileSync(join(app.root, 'config/config.yaml'), 'utf8')).toBe(
      'a: 1\nextensions:\n  myext-1:\n    enabled: true\n    type: builtin\n    name: My Ext-1\n    description: ""\n' +
        '    display_name: null\n    timeout: 5\n    bundled: null\n    available_tools: []\n',
    )
  })

  it('writes the platform extensions after the entries that were there', async () => {
    const app = withSettings('extensions: {bad: [1.0], __proto__: 5}\nz: 1\n')
    await add(app, 'x')
    expect(Object.keys(await stored(app))).toEqual(['bad', '__proto__', ...platform, 'x'])
    await add(app, 'todo')
    expect(Object.keys(await stored(app))).toEqual(['bad', '__proto__', ...platform, 'x'])
    expect((await app.get('/config')).text).toContain('"bad":[1.0]')
  })

  it('says whether an extension had the name, whatever its key', async () => {
    const app = withSettings('extensions: {odd: {enabled: true, type: builtin, name: Inner}, five: 5}\n')
    expect((await add(app, 'odd', 'x')).text).toBe('"Added extension odd"')
    expect((await add(app, ' IN NER', 'y')).text).toBe('"Updated extension  IN NER"')
    expect((await add(app, 'Extension Manager')).text).toBe('"Updated extension Extension Manager"')
    expect((await add(app, 'five')).text).toBe('"Added extension five"')
    expect((await add(app, '__proto__')).text).toBe('"Added extension __proto__"')
    expect((await add(app, '__proto__')).text).toBe('"Updated extension __proto__"')
  })

  it('replaces a setting that is not a mapping, and ignores the environment', async () => {
    const app = withSettings('extensions: [1]\n', { EXTENSIONS: '{"e":{"enabled":true,"type":"builtin","name":"e"}}' })
    expect((await add(app, 'e')).text).toBe('"Added extension e"')
    expect(Object.keys(await stored(app))).toEqual(['e'])
  })

  it('answers the same if nothing can be stored, which is logged', async () => {
    const app = withSettings('extensions: {x: {enabled: true, type: builtin, name: x}}\n')
    writeFileSync(join(app.root, 'config/config.yaml.bak.4'), '')
    mkdirSync(join(app.root, 'config/config.yaml.bak.5/x'), { recursive: true })
    expect((await add(app, 'y')).text).toBe('"Added extension y"')
    expect((await add(app, 'x')).text).toBe('"Updated extension x"')
    expect((await remove(app, 'x')).text).toBe('"Removed extension x"')
    expect(app.logs.map(({ message }) => message)).toEqual(Array(3).fill('extensions not stored'))
    writeFileSync(join(app.root, 'config/config.yaml'), 'a: \xff', 'latin1')
    expect((await add(app, 'x')).text).toBe('"Added extension x"')
    expect(readFileSync(join(app.root, 'config/config.yaml'), 'latin1')).toBe('a: \xff')
  })
})

describe('DELETE /config/extensions/{name} (GA 10.11)', () => {
  it('removes the entry with the key of the name', async () => {
    const app = withSettings('extensions: {myext: 5, b: {enabled: true, type: builtin, name: myext}}\n')
    expect(await remove(app, 'My Ext')).toMatchObject({ status: 200, text: '"Removed extension My Ext"' })
    expect(await remove(app, 'todo')).toMatchObject({ status: 200, text: '"Removed extension todo"' })
    expect(Object.keys(await stored(app))).toEqual(['b', 'chatrecall', 'extensionmanager', 'skills'])
    expect(await names(app)).toEqual(['myext', 'chatrecall', 'Extension Manager', 'skills', 'todo'])
  })

  it.each(['a: 1\n', 'extensions:\n', 'extensions: {}\n'])('writes an empty mapping if there was none in %j', async (text) => {
    const app = withSettings(text)
    expect((await remove(app, 'unknown')).status).toBe(200)
    expect(await stored(app)).toEqual({})
    expect(readFileSync(join(app.root, 'config/config.yaml.bak'), 'utf8')).toBe(text)
  })
})
