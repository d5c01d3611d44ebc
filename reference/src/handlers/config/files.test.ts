import { mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GooseApp } from '../../testing/goose-app.ts'

const file = (app: GooseApp): string => join(app.root, 'config/config.yaml')

function post(app: GooseApp, target: string): Promise<{ status: number; text: string }> {
  return app.fetch(target, { method: 'POST' })
}

/** Makes a config.yaml that cannot be read. */
const obstacles: [string, (path: string) => void][] = [
  ['a FIFO', (path) => { spawnSync('mkfifo', [path]) }],
  ['a directory', (path) => { mkdirSync(path) }],
  ['a link to itself', (path) => { symlinkSync('config.yaml', path) }],
  ['a device', (path) => { symlinkSync('/dev/zero', path) }],
]

describe('POST /config/init (GA 10.5)', () => {
  it('says whether there is a file, and writes nothing', async () => {
    const app = new GooseApp()
    expect((await post(app, '/config/init')).text).toBe('"No init-config.yaml found, using default configuration"')
    symlinkSync('nowhere', file(app))
    expect((await post(app, '/config/init')).text).toBe('"No init-config.yaml found, using default configuration"')
    rmSync(file(app))
    writeFileSync(file(app), '- a')
    expect((await post(app, '/config/init')).text).toBe('"Config already exists"')
    expect(readdirSync(join(app.root, 'config'))).toEqual(['config.yaml'])
  })

  it.each(obstacles)('counts %s as a file', async (_, make) => {
    const app = new GooseApp()
    make(file(app))
    expect((await post(app, '/config/init')).text).toBe('"Config already exists"')
  })
})

describe('GET /config/validate (GA 10.6)', () => {
  it.each<[text: string, status: number]>([
    ['a: 1', 200], ['- a', 200], ['x', 200], ['', 200], ['a: [', 422], ['a: 1\na: 2', 422], ['a: 1\n---\nb: 2', 422], [': a', 422], ['"\xff"', 500],
  ])('of %j is %i, and leaves the file', async (text, status) => {
    const app = new GooseApp()
    writeFileSync(file(app), text, 'latin1')
    expect(await app.get('/config/validate')).toMatchObject({ status, text: status === 200 ? '"Config file is valid"' : '' })
    expect(readFileSync(file(app), 'latin1')).toBe(text)
  })

  it('does not create a missing file', async () => {
    const app = new GooseApp()
    expect(await app.get('/config/validate')).toMatchObject({ status: 200, text: '"Config file does not exist"' })
    expect(readdirSync(join(app.root, 'config'))).toEqual([])
  })
})

describe('POST /config/backup (GA 10.7)', () => {
  it('names both files', async () => {
    const app = new GooseApp()
    writeFileSync(file(app), 'a:   1\n')
    expect(await post(app, '/config/backup')).toMatchObject({ status: 200, text: JSON.stringify(`Copied "${file(app)}" to "${file(app)}.bak"`) })
    expect(readFileSync(`${file(app)}.bak`, 'utf8')).toBe('a:   1\n')
  })

  it('escapes quotation marks and backslashes in the paths, which are absolute', async () => {
    const root = new GooseApp().root
    const config = join(root, 'a"b\\c')
    mkdirSync(config)
    writeFileSync(join(config, 'config.yaml'), '')
    const relative = config.replace(/^/, `${'../'.repeat(process.cwd().split('/').length)}.`)
    const app = new GooseApp({ paths: { config: relative, data: root, state: root } })
    const named = join(root, 'a\\"b\\\\c', 'config.yaml')
    expect(JSON.parse((await post(app, '/config/backup')).text)).toBe(`Copied "${named}" to "${named}.bak"`)
  })

  it('is 500 without a file', async () => {
    expect(await post(new GooseApp(), '/config/backup')).toMatchObject({ status: 500, text: '' })
  })
})

describe('POST /config/recover (GA 10.8)', () => {
  it.each([
    ['b: 1\na, c: 2\n', 'Config recovery completed. Recovered 2 keys: b, a, c'],
    ['a: [', 'Config recovery completed. Recovered 1 keys: z'],
    ['', 'Config recovery completed, but no data was recoverable. Starting with empty configuration.'],
  ])('of %j lists the keys', async (text, says) => {
    const app = new GooseApp()
    writeFileSync(file(app), text)
    writeFileSync(`${file(app)}.bak`, 'z: 1\n')
    expect(await post(app, '/config/recover')).toMatchObject({ status: 200, text: JSON.stringify(says) })
  })
})

it('settings whose directory is a file cannot be read', async () => {
  const root = new GooseApp().root
  writeFileSync(join(root, 'file'), '')
  const app = new GooseApp({ paths: { config: join(root, 'file'), data: join(root, 'data'), state: root } })
  expect((await app.get('/config')).status).toBe(422)
  expect((await app.get('/config/validate')).text).toBe('"Config file does not exist"')
  expect((await post(app, '/config/init')).text).toBe('"No init-config.yaml found, using default configuration"')
  for (const target of ['/config/backup', '/config/recover']) expect((await post(app, target)).status).toBe(500)
  for (const isSecret of [true, false]) {
    expect((await app.call('POST', '/config/upsert', { key: 'a', value: 1, is_secret: isSecret })).status).toBe(500)
  }
  expect((await app.call('POST', '/config/read', { key: 'a', is_secret: true })).text).toBe('null')
  expect((await app.call('POST', '/config/permissions', { tool_permissions: [{ tool_name: 'a', permission: 'ask_before' }] })).status).toBe(500)
  expect(readFileSync(join(root, 'file'), 'utf8')).toBe('')
})

it.each(obstacles)('operations on a file that is %s fail, and do not wait', async (_, make) => {
  const app = new GooseApp()
  make(file(app))
  expect((await app.get('/config')).status).toBe(422)
  expect((await app.get('/config/validate')).status).toBe(500)
  for (const target of ['/config/backup', '/config/recover']) expect((await post(app, target)).status).toBe(500)
  expect((await app.call('POST', '/config/upsert', { key: 'a', value: 1, is_secret: false })).status).toBe(500)
  expect((await app.get('/config/extensions')).text).toBe('{"extensions":[]}')
  expect(readdirSync(join(app.root, 'config'))).toEqual(['config.yaml'])
})
