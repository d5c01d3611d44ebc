import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sqliteWasm from 'node-sqlite3-wasm'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { newFixture, pending, register, result, toolRequest, type Fixture } from '../src/testing/fixture.ts'
import { offerCurrentTime } from './current-time.ts'
import { type Connection, offerQuery, openReadOnly } from './query-sqlite.ts'
import { offerReadFile } from './read-file.ts'

let f: Fixture
let folder: string

beforeEach(async () => {
  f = await newFixture()
  folder = mkdtempSync(join(tmpdir(), 'examples-'))
})

afterEach(async () => {
  vi.useRealTimers()
  await f.client.tools.disconnect()
  await f.server.close()
  rmSync(folder, { recursive: true })
})

/** What the client answers to a call of its only tool. */
async function call(tool: string, input: object): Promise<unknown> {
  const connecting = f.client.tools.connect()
  ;(await f.server.next(register)).reply(200)
  const stream = (await f.server.next(pending)).open()
  await connecting
  stream.event('tool-request', toolRequest(tool, input))
  const submitted = await f.server.next(result)
  submitted.reply(200)
  await f.client.tools.disconnect()
  return (submitted.json() as { result: unknown }).result
}

describe('the time in a time zone', () => {
  it('is that of the zone', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 2, 23, 30) })
    await offerCurrentTime(f.client.tools)
    expect(await call('current-time', { zone: 'Asia/Tokyo' })).toEqual({
      status: 'success', title: 'Time in Asia/Tokyo',
      output: expect.stringMatching(/^Saturday,? 3 January 2026 at 08:30:00 GMT\+9$/) as string, // the comma depends on Node
      metadata: { utc: '2026-01-02T23:30:00.000Z' },
    })
  })

  it('is an error for an unknown zone', async () => {
    await offerCurrentTime(f.client.tools)
    expect(await call('current-time', { zone: 'Moon/Base' })).toEqual({
      status: 'error', error: 'Invalid time zone specified: Moon/Base',
    })
  })
})

describe('a file below an allowed root', () => {
  beforeEach(async () => {
    const root = join(folder, 'root')
    mkdirSync(join(root, 'docs'), { recursive: true })
    writeFileSync(join(root, 'docs', '..a.txt'), 'inside')
    writeFileSync(join(root, 'large.txt'), Buffer.alloc(256 * 1024 + 1))
    writeFileSync(join(folder, 'secret.txt'), 'secret')
    symlinkSync(folder, join(root, 'out'))
    symlinkSync('docs', join(root, 'in'))
    symlinkSync(root, join(folder, 'link-to-root'))
    await offerReadFile(f.client.tools, join(folder, 'link-to-root'))
  })

  it.each(['docs/..a.txt', 'in/..a.txt', './docs/../docs/..a.txt'])('is read: %s', async (path) => {
    expect(await call('read-file', { path })).toEqual({
      status: 'success', title: join('docs', '..a.txt'), output: 'inside', metadata: { bytes: 6 },
    })
  })

  it.each(['../secret.txt', 'out/secret.txt', 'in/../../secret.txt', 'out', '/etc/hosts'])('is not read outside of it: %s', async (path) => {
    expect(await call('read-file', { path })).toEqual({ status: 'error', error: `${path} is outside of the project` })
  })

  it('has at most 256 KiB', async () => {
    expect(await call('read-file', { path: 'large.txt' })).toMatchObject({ status: 'error', error: expect.stringContaining('262145') as string })
  })
})

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const hasSqlite = major > 22 || (major === 22 && minor >= 13)

describe('SQL on a read-only connection', () => {
  let connection: Connection

  beforeEach(async () => {
    const file = join(folder, 'data.sqlite')
    const database = new sqliteWasm.Database(file)
    database.exec(`CREATE TABLE teas (name TEXT, grams INTEGER); INSERT INTO teas VALUES ('green', 50), ('black', 80)`)
    database.close()
    connection = hasSqlite ? openReadOnly(file) : new sqliteWasm.Database(file, { readOnly: true })
    await offerQuery(f.client.tools, connection)
  })

  afterEach(() => {
    connection.close()
  })

  it('returns rows and their number', async () => {
    expect(await call('query', { sql: 'SELECT name, grams FROM teas ORDER BY grams DESC' })).toEqual({
      status: 'success', title: '2 rows', output: '{"name":"black","grams":80}\n{"name":"green","grams":50}', metadata: { rowCount: 2 },
    })
  })

  it.each([
    ['WITH x AS (SELECT 1) INSERT INTO teas SELECT name, 1 FROM teas', /readonly/],
    ['DELETE FROM teas', /^Only SELECT/],
    [`ATTACH DATABASE '/etc/passwd' AS other`, /^Only SELECT/],
    ['SELECT * FROM coffees', /no such table/],
    ['WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n', /^More than 200 rows/],
  ])('fails: %s', async (sql, error) => {
    expect(await call('query', { sql })).toEqual({ status: 'error', error: expect.stringMatching(error) as string })
  })

  it('says which Node is needed', () => {
    vi.stubGlobal('process', { versions: { node: '22.12.0' } })
    onTestFinished(() => {
      vi.unstubAllGlobals()
    })
    expect(() => openReadOnly('data.sqlite')).toThrow('use Node 22.13 or later')
  })
})
