import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../wire/json/shape.ts'
import { visibleToBoth, type Message } from '../domain/message/message.ts'
import { eventually } from '../testing/eventually.ts'
import { temporaryRoot } from '../testing/temporary-root.ts'
import { recordingLogger } from '../testing/test-app.ts'
import { SessionStore, type NewSession } from './session-store.ts'

let root: string
let now: Date

beforeEach(() => {
  root = temporaryRoot()
  now = new Date('2025-12-10T16:59:31.500Z')
})

const { logger, entries: logs } = recordingLogger()

async function open(): Promise<SessionStore> {
  const store = new SessionStore(root, logger, () => now)
  await store.open()
  return store
}

const fresh: NewSession = { working_dir: '/w', name: 'New session 1', session_type: 'user' }

function says(text: string, created: number | bigint = 1): Message {
  return { id: null, role: 'user', created, content: [{ type: 'text', text }], metadata: visibleToBoth }
}

async function texts(store: SessionStore, id: string): Promise<unknown[]> {
  return ((await store.load(id))?.conversation ?? []).map(({ content: [item] }) => (item?.type === 'text' ? item.text : item))
}

/** Counts the turns of the event loop during a call. */
async function turnsDuring(run: () => Promise<unknown>): Promise<number> {
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  await run()
  clearInterval(timer)
  return turns
}

function log(id: string): string {
  return join(root, 'sessions/log', `${id}.jsonl`)
}

describe('ids (GA 9.1)', () => {
  it('count the sessions of a day in UTC, from the highest that exists', async () => {
    const store = await open()
    expect([await store.create(fresh), await store.create(fresh), await store.create(fresh)].map(({ id }) => id)).toEqual(['20251210_1', '20251210_2', '20251210_3'])
    store.delete('20251210_1')
    expect((await store.create(fresh)).id).toBe('20251210_4')
    store.delete('20251210_4')
    expect((await store.create(fresh)).id).toBe('20251210_4')
    now = new Date('2025-12-11T00:00:00Z')
    expect((await store.create(fresh)).id).toBe('20251211_1')
    expect((await (await open()).create(fresh)).id).toBe('20251211_2')
  })

  it('continue beyond nine', async () => {
    const store = await open()
    for (let i = 0; i < 11; i++) await store.create(fresh)
    expect((await (await open()).create(fresh)).id).toBe('20251210_12')
  })

  it('are not given twice by two processes', async () => {
    const [one, other] = [await open(), await open()]
    expect([one.list(), other.list()]).toEqual([[], []])
    expect([await one.create(fresh), await other.create(fresh), await one.create(fresh)].map(({ id }) => id)).toEqual(['20251210_1', '20251210_2', '20251210_3'])
  })
})

describe('a session', () => {
  it('has all its members, in order', async () => {
    const session = await (await open()).create(fresh)
    expect(JSON.stringify(session)).toBe(
      '{"id":"20251210_1","working_dir":"/w","name":"New session 1","user_set_name":false,"session_type":"user",' +
        '"created_at":"2025-12-10T16:59:31Z","updated_at":"2025-12-10T16:59:31Z","extension_data":{},' +
        '"total_tokens":null,"input_tokens":null,"output_tokens":null,' +
        '"accumulated_total_tokens":null,"accumulated_input_tokens":null,"accumulated_output_tokens":null,' +
        '"schedule_id":null,"recipe":null,"user_recipe_values":null,"conversation":null,"message_count":0,' +
        '"provider_name":null,"model_config":null}',
    )
  })

  it('is updated by changes and by messages, not by truncation or replacement', async () => {
    const store = await open()
    const { id } = await store.create(fresh)
    const updated = (): string | undefined => store.find(id)?.updated_at
    now = new Date('2025-12-10T17:00:00Z')
    store.update(id, { name: 'n' })
    expect(updated()).toBe('2025-12-10T17:00:00Z')
    now = new Date('2025-12-10T17:00:01Z')
    await store.addMessages(id, [says('a')])
    expect(updated()).toBe('2025-12-10T17:00:01Z')
    now = new Date('2025-12-10T17:00:02Z')
    await store.replaceMessages(id, () => [says('b', 5), says('c', 6)])
    store.cut(id, 6)
    expect(updated()).toBe('2025-12-10T17:00:01Z')
    expect(store.find(id)).toMatchObject({ name: 'n', message_count: 1, created_at: '2025-12-10T16:59:31Z' })
    expect(await (await open()).load(id)).toEqual(await store.load(id))
  })

  it('gives its messages ids by their position', async () => {
    const store = await open()
    const { id } = await store.create(fresh)
    await store.addMessages(id, [{ ...says('a'), id: 'mine' }, says('b')])
    expect((await store.load(id))?.conversation.map((message) => message.id)).toEqual([`msg_${id}_0`, `msg_${id}_1`])
  })

  it('is truncated at a second', async () => {
    const store = await open()
    const { id } = await store.create(fresh, [says('a', 10), says('b', 11), says('c', 11), says('d', 9), says('e', 9007199254740993n)])
    expect(store.cut(id, 9007199254740994n)).toBe(true)
    expect(await texts(store, id)).toEqual(['a', 'b', 'c', 'd', 'e'])
    store.cut(id, 9007199254740993n)
    expect(await texts(store, id)).toEqual(['a', 'b', 'c', 'd'])
    store.cut(id, 11)
    expect(await texts(store, id)).toEqual(['a', 'd'])
    expect(await texts(await open(), id)).toEqual(['a', 'd'])
  })

  it.each(['', '20251210_9', '../20251210_1', '__proto__', '20251210_1.jsonl', '20251210_1\0'])('called %j is unknown', async (id) => {
    const store = await open()
    await store.create(fresh)
    expect([store.find(id), await store.load(id)]).toEqual([undefined, undefined])
    expect([store.update(id, {}), await store.addMessages(id, []), await store.replaceMessages(id, () => []), store.cut(id, 0), store.delete(id)]).toEqual(
      Array(5).fill(false),
    )
  })
})

describe('a restart', () => {
  it('keeps everything, digits included', async () => {
    const store = await open()
    const { id } = await store.create({ ...fresh, extension_data: { 'todo.v0': { content: 'x' } } })
    await store.addMessages(id, [says('ż\u2028\n', 9007199254740993n), says('b')])
    store.update(id, { total_tokens: 5, user_recipe_values: { a: 'b' } })
    await store.create(fresh)
    store.delete('20251210_2')
    expect((await open()).list()).toEqual(store.list())
    expect(await (await open()).load(id)).toEqual(await store.load(id))
    expect((await (await open()).load(id))?.conversation[0]?.created).toBe(9007199254740993n)
  })

  it('drops an incomplete line, and continues after the last complete one', async () => {
    const { id } = await (await open()).create(fresh)
    appendFileSync(log(id), '{"type":"updated","row":{"na')
    const store = await open()
    await store.addMessages(id, [says('a')])
    expect(await texts(await open(), id)).toEqual(['a'])
    expect(readFileSync(log(id), 'utf8').split('\n')).toHaveLength(3)
  })

  it.each(['', '{"type":"created","row":{"id":"20251210_1"'])('does not know a session whose creation was cut short: %j', async (begun) => {
    mkdirSync(join(root, 'sessions/log'), { recursive: true })
    writeFileSync(log('20251210_1'), begun)
    const store = await open()
    expect([store.list(), await store.load('20251210_1')]).toEqual([[], undefined])
    expect((await store.create(fresh)).id).toBe('20251210_2')
  })

  it('knows the session of a partly readable log, and not its messages (G15)', async () => {
    const [damaged, headless] = [(await (await open()).create(fresh, [says('a')])).id, (await (await open()).create(fresh)).id]
    appendFileSync(log(damaged), 'nonsense\n{"type":"added"}\n')
    writeFileSync(log(headless), 'nonsense\n')
    mkdirSync(log('20251210_9')) // a directory, which cannot be opened as a log
    writeFileSync(join(root, 'sessions/log/notes.txt'), '')
    logs.length = 0
    const store = await open()
    expect(store.update(damaged, { name: 'Named' })).toBe(true)
    expect(logs).toMatchObject([{ level: 'warn', message: 'session not readable' }, {}, {}])
    expect(store.find(damaged)).toMatchObject({ working_dir: '/w', name: 'Named', message_count: 3 })
    expect(store.find(headless)).toMatchObject({ id: headless, working_dir: '', created_at: '1970-01-01T00:00:00Z', message_count: 1 })
    expect(store.list().map(({ id }) => id).sort()).toEqual([damaged, headless, '20251210_9'])
    for (const id of [damaged, headless, '20251210_9']) {
      await expect(store.load(id)).rejects.toThrow('Session cannot be read')
      expect(() => store.cut(id, 0)).toThrow('Session cannot be read')
    }
    expect((await open()).find(damaged)).toMatchObject({ name: 'Named', message_count: 3 })
    expect((await store.create(fresh)).id).toBe('20251210_10')
    expect(store.delete(damaged)).toBe(true)
  })

  it('keeps what a process had acknowledged when it was killed', async () => {
    const program = `
      import { SessionStore } from ${JSON.stringify(import.meta.resolve('./session-store.ts'))}
      const store = new SessionStore(${JSON.stringify(root)}, { warn() {} })
      await store.open()
      const { id } = await store.create(${JSON.stringify(fresh)})
      for (let i = 0; i < 20; i++) await store.addMessages(id, [${JSON.stringify(says('x'))}])
      process.stdout.write(id)
      process.kill(process.pid, 'SIGKILL')`
    const { stdout, signal } = spawnSync(process.execPath, ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', program], {
      encoding: 'utf8',
    })
    expect(signal).toBe('SIGKILL')
    expect((await (await open()).load(stdout))?.conversation).toHaveLength(20)
  })
})

describe('a log', () => {
  it('is rewritten when most of it is obsolete', async () => {
    const store = await open()
    const { id } = await store.create(fresh)
    const large = says('x'.repeat(300_000))
    await store.addMessages(id, [says('first'), large])
    for (let i = 0; i < 20; i++) {
      await store.replaceMessages(id, () => [says('first'), large])
      store.update(id, { name: `name ${i}` }) // while the log is being rewritten
    }
    await eventually(() => {
      expect(statSync(log(id)).size).toBeLessThan(2_000_000)
      expect(readdirSync(join(root, 'sessions/log'))).toEqual([`${id}.jsonl`])
    })
    expect(await texts(store, id)).toEqual(['first', 'x'.repeat(300_000)])
    expect(await (await open()).load(id)).toEqual(await store.load(id))
    expect((await open()).find(id)).toMatchObject({ name: 'name 19', message_count: 2 })
  })

  it('is removed with its session', async () => {
    const store = await open()
    const { id } = await store.create(fresh)
    writeFileSync(`${log(id)}.tmp`, 'what a kill has left')
    expect(store.delete(id)).toBe(true)
    expect(readdirSync(join(root, 'sessions/log'))).toEqual([])
    expect(store.delete(id)).toBe(false)
  })
})

describe('messages that are replaced', () => {
  it('are computed again when others have been added in the meantime', async () => {
    const store = await open()
    const { id } = await store.create(fresh, [says('a')])
    let asked = 0
    const replaced = store.replaceMessages(id, (stored) => {
      asked++
      return [says('summary'), ...stored.slice(1)]
    })
    await store.addMessages(id, [says('b')])
    expect(await replaced).toBe(true)
    expect(asked).toBe(2)
    expect(await texts(await open(), id)).toEqual(['summary', 'b'])
  })

  it('are not stored when the session is deleted in the meantime, even if another one gets its number', async () => {
    const store = await open()
    const { id } = await store.create(fresh, [says('a')])
    const changes = [store.replaceMessages(id, () => [says('b')]), store.addMessages(id, [says('c')])]
    store.delete(id)
    const again = await store.create(fresh)
    expect([again.id, await Promise.all(changes), await texts(store, id)]).toEqual([id, [false, false], []])
  })
})

describe('a store', () => {
  it('is opened in pieces, and does not delay other work', async () => {
    const store = await open()
    for (let i = 0; i < 3; i++) await store.create(fresh, Array.from({ length: 20_000 }, () => says('text')))
    const read = new SessionStore(root, logger)
    expect(await turnsDuring(() => read.open())).toBeGreaterThan(5)
    expect(read.list().map((one) => one.message_count)).toEqual([20_000, 20_000, 20_000])
  })

  it('that is not open reports this', () => {
    expect(() => new SessionStore(root, logger).list()).toThrow('not open')
  })
})

describe('a session that is read', () => {
  it('is the same, and does not delay other work', async () => {
    const store = await open()
    const { id } = await store.create(fresh, Array.from({ length: 20_000 }, (_, i) => says(`text ${i}`, i)))
    await store.addMessages(id, [says('late', 30_000)])
    store.cut(id, 19_999)
    expect(await turnsDuring(() => store.load(id))).toBeGreaterThan(2)
    expect((await store.load(id))?.conversation).toHaveLength(19_999)
    expect(await store.load('20251210_9')).toBeUndefined()
  })

  it('may or may not have concurrent changes, and may be deleted', async () => {
    const store = await open()
    const { id } = await store.create(fresh, [says('a')])
    const loading = store.load(id)
    await store.addMessages(id, [says('b')])
    const session = await loading
    expect(session?.message_count).toBe(session?.conversation.length)
    const second = store.load(id)
    store.delete(id)
    expect(await second.then((one) => one?.id ?? id)).toBe(id)
  })

  it('may be nested as deeply as a body', async () => {
    const store = await open()
    let deep: JsonObject = {}
    for (let i = 1; i < 8999; i++) deep = { a: deep }
    const { id } = await store.create({ ...fresh, extension_data: deep })
    expect(await store.load(id)).toMatchObject({ id })
    expect(await (await open()).load(id)).toMatchObject({ id })
  })

  it.each(['a FIFO', 'a device'])('is not opened if its file is %s', async (kind) => {
    mkdirSync(join(root, 'sessions/log'), { recursive: true })
    if (kind === 'a FIFO') spawnSync('mkfifo', [log('20251210_7')])
    else symlinkSync('/dev/zero', log('20251210_7'))
    const store = await open()
    expect(store.find('20251210_7')).toMatchObject({ message_count: 1 })
    await expect(store.load('20251210_7')).rejects.toThrow('Session cannot be read')
  })

  it('that cannot be read is an error', async () => {
    const store = await open()
    const { id } = await store.create(fresh)
    appendFileSync(log(id), 'no JSON\n')
    await expect(store.load(id)).rejects.toThrow('Session cannot be read')
  })
})
