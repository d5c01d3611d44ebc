import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { visibleToBoth } from '../message/message.ts'
import type { Message } from '../message/message.ts'
import { recordingLogger } from '../testing/test-app.ts'
import { temporaryRoot } from '../testing/goose-app.ts'
import { SessionStore } from './session-store.ts'
import type { NewSession } from './session-store.ts'

let root: string
let now: Date

beforeEach(() => {
  root = temporaryRoot()
  now = new Date('2025-12-10T16:59:31.500Z')
})

const { logger, entries: logs } = recordingLogger()

function open(): SessionStore {
  return new SessionStore(root, logger, () => now)
}

const fresh: NewSession = { working_dir: '/w', name: 'New session 1', session_type: 'user' }

function says(text: string, created: number | bigint = 1): Message {
  return { id: null, role: 'user', created, content: [{ type: 'text', text }], metadata: visibleToBoth }
}

function texts(store: SessionStore, id: string): unknown[] {
  return (store.load(id)?.conversation ?? []).map(({ content: [item] }) => (item?.type === 'text' ? item.text : item))
}

function log(id: string): string {
  return join(root, 'sessions/log', `${id}.jsonl`)
}

describe('ids (GA 9.1)', () => {
  it('count the sessions of a day of UTC, from the highest that is left', () => {
    const store = open()
    expect([1, 2, 3].map(() => store.create(fresh).id)).toEqual(['20251210_1', '20251210_2', '20251210_3'])
    store.delete('20251210_1')
    expect(store.create(fresh).id).toBe('20251210_4')
    store.delete('20251210_4')
    expect(store.create(fresh).id).toBe('20251210_4')
    now = new Date('2025-12-11T00:00:00Z')
    expect(store.create(fresh).id).toBe('20251211_1')
    expect(open().create(fresh).id).toBe('20251211_2')
  })

  it('pass by numbers beyond nine', () => {
    const store = open()
    for (let i = 0; i < 11; i++) store.create(fresh)
    expect(open().create(fresh).id).toBe('20251210_12')
  })

  it('are not given twice by two processes', () => {
    const [one, other] = [open(), open()]
    expect([one.list(), other.list()]).toEqual([[], []])
    expect([one, other, one].map((store) => store.create(fresh).id)).toEqual(['20251210_1', '20251210_2', '20251210_3'])
  })
})

describe('a session', () => {
  it('has all its members, in order', () => {
    const session = open().create(fresh)
    expect(JSON.stringify(session)).toBe(
      '{"id":"20251210_1","working_dir":"/w","name":"New session 1","user_set_name":false,"session_type":"user",' +
        '"created_at":"2025-12-10T16:59:31Z","updated_at":"2025-12-10T16:59:31Z","extension_data":{},' +
        '"total_tokens":null,"input_tokens":null,"output_tokens":null,' +
        '"accumulated_total_tokens":null,"accumulated_input_tokens":null,"accumulated_output_tokens":null,' +
        '"schedule_id":null,"recipe":null,"user_recipe_values":null,"conversation":null,"message_count":0,' +
        '"provider_name":null,"model_config":null}',
    )
  })

  it('is updated by what changes it and by messages, not by what is cut off or replaced', () => {
    const store = open()
    const { id } = store.create(fresh)
    const updated = (): string | undefined => store.find(id)?.updated_at
    now = new Date('2025-12-10T17:00:00Z')
    store.update(id, { name: 'n' })
    expect(updated()).toBe('2025-12-10T17:00:00Z')
    now = new Date('2025-12-10T17:00:01Z')
    store.addMessages(id, [says('a')])
    expect(updated()).toBe('2025-12-10T17:00:01Z')
    now = new Date('2025-12-10T17:00:02Z')
    store.replaceMessages(id, [says('b', 5), says('c', 6)])
    store.cut(id, 6)
    expect(updated()).toBe('2025-12-10T17:00:01Z')
    expect(store.find(id)).toMatchObject({ name: 'n', message_count: 1, created_at: '2025-12-10T16:59:31Z' })
    expect(open().load(id)).toEqual(store.load(id))
  })

  it('gives its messages ids by their place', () => {
    const store = open()
    const { id } = store.create(fresh)
    store.addMessages(id, [{ ...says('a'), id: 'mine' }, says('b')])
    expect(store.load(id)?.conversation.map((message) => message.id)).toEqual([`msg_${id}_0`, `msg_${id}_1`])
  })

  it('is cut off at a second', () => {
    const store = open()
    const { id } = store.create(fresh, [says('a', 10), says('b', 11), says('c', 11), says('d', 9), says('e', 9007199254740993n)])
    expect(store.cut(id, 9007199254740994n)).toBe(true)
    expect(texts(store, id)).toEqual(['a', 'b', 'c', 'd', 'e'])
    store.cut(id, 9007199254740993n)
    expect(texts(store, id)).toEqual(['a', 'b', 'c', 'd'])
    store.cut(id, 11)
    expect(texts(store, id)).toEqual(['a', 'd'])
    expect(texts(open(), id)).toEqual(['a', 'd'])
  })

  it.each(['', '20251210_9', '../20251210_1', '__proto__', '20251210_1.jsonl', '20251210_1\0'])('called %j is unknown', (id) => {
    const store = open()
    store.create(fresh)
    expect([store.find(id), store.load(id)]).toEqual([undefined, undefined])
    expect([store.update(id, {}), store.addMessages(id, []), store.replaceMessages(id, []), store.cut(id, 0), store.delete(id)]).toEqual(
      Array(5).fill(false),
    )
  })
})

describe('a restart', () => {
  it('keeps everything, digits included', () => {
    const store = open()
    const { id } = store.create({ ...fresh, extension_data: { 'todo.v0': { content: 'x' } } })
    store.addMessages(id, [says('ż\u2028\n', 9007199254740993n), says('b')])
    store.update(id, { total_tokens: 5, user_recipe_values: { a: 'b' } })
    store.create(fresh)
    store.delete('20251210_2')
    expect(open().list()).toEqual(store.list())
    expect(open().load(id)).toEqual(store.load(id))
    expect(open().load(id)?.conversation[0]?.created).toBe(9007199254740993n)
  })

  it('drops a line that was cut short, and goes on behind the last whole one', () => {
    const { id } = open().create(fresh)
    appendFileSync(log(id), '{"type":"updated","row":{"na')
    const store = open()
    store.addMessages(id, [says('a')])
    expect(texts(open(), id)).toEqual(['a'])
    expect(readFileSync(log(id), 'utf8').split('\n')).toHaveLength(3)
  })

  it.each(['', '{"type":"created","row":{"id":"20251210_1"'])('does not know a session whose making was cut short: %j', (begun) => {
    mkdirSync(join(root, 'sessions/log'), { recursive: true })
    writeFileSync(log('20251210_1'), begun)
    const store = open()
    expect([store.list(), store.load('20251210_1')]).toEqual([[], undefined])
    expect(store.create(fresh).id).toBe('20251210_2')
  })

  it('knows the session of a log that it cannot read as a whole, and not its messages (G15)', () => {
    const [damaged, headless] = [open().create(fresh, [says('a')]).id, open().create(fresh).id]
    appendFileSync(log(damaged), 'nonsense\n{"type":"added"}\n')
    writeFileSync(log(headless), 'nonsense\n')
    mkdirSync(log('20251210_9')) // cannot be opened
    writeFileSync(join(root, 'sessions/log/notes.txt'), '')
    logs.length = 0
    const store = open()
    expect(store.update(damaged, { name: 'Named' })).toBe(true)
    expect(logs).toMatchObject([{ level: 'warn', message: 'session not readable' }, {}, {}])
    expect(store.find(damaged)).toMatchObject({ working_dir: '/w', name: 'Named', message_count: 3 })
    expect(store.find(headless)).toMatchObject({ id: headless, working_dir: '', created_at: '1970-01-01T00:00:00Z', message_count: 1 })
    expect(store.list().map(({ id }) => id).sort()).toEqual([damaged, headless, '20251210_9'])
    for (const id of [damaged, headless, '20251210_9']) expect(() => store.load(id)).toThrow()
    expect(open().find(damaged)).toMatchObject({ name: 'Named', message_count: 3 })
    expect(store.create(fresh).id).toBe('20251210_10')
    expect(store.delete(damaged)).toBe(true)
  })

  it('keeps what a process had acknowledged when it was killed', () => {
    const program = `
      import { SessionStore } from ${JSON.stringify(import.meta.resolve('./session-store.ts'))}
      const store = new SessionStore(${JSON.stringify(root)}, { warn() {} })
      const { id } = store.create(${JSON.stringify(fresh)})
      for (let i = 0; i < 20; i++) store.addMessages(id, [${JSON.stringify(says('x'))}])
      process.stdout.write(id)
      process.kill(process.pid, 'SIGKILL')`
    const { stdout, signal } = spawnSync(process.execPath, ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', program], {
      encoding: 'utf8',
    })
    expect(signal).toBe('SIGKILL')
    expect(open().load(stdout)?.conversation).toHaveLength(20)
  })
})

describe('a log', () => {
  it('is written anew when most of it is of no use any more', () => {
    const store = open()
    const { id } = store.create(fresh)
    const large = says('x'.repeat(300_000))
    store.addMessages(id, [says('first'), large])
    for (let i = 0; i < 20; i++) store.replaceMessages(id, [says('first'), large])
    expect(statSync(log(id)).size).toBeLessThan(2_000_000)
    expect(texts(store, id)).toEqual(['first', 'x'.repeat(300_000)])
    expect(open().load(id)).toEqual(store.load(id))
    expect(readdirSync(join(root, 'sessions/log'))).toEqual([`${id}.jsonl`])
  })

  it('goes with its session', () => {
    const store = open()
    const { id } = store.create(fresh)
    writeFileSync(`${log(id)}.tmp`, 'what a kill has left')
    expect(store.delete(id)).toBe(true)
    expect(readdirSync(join(root, 'sessions/log'))).toEqual([])
    expect(store.delete(id)).toBe(false)
  })
})

describe('a session that is read while others have their turn', () => {
  it('is the same, and keeps nobody waiting', async () => {
    const store = open()
    const { id } = store.create(fresh, Array.from({ length: 20_000 }, (_, i) => says(`text ${i}`, i)))
    store.addMessages(id, [says('late', 30_000)])
    store.cut(id, 19_999)
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    const session = await store.loadAside(id)
    clearInterval(timer)
    expect(session).toEqual(store.load(id))
    expect(session?.conversation).toHaveLength(19_999)
    expect(turns).toBeGreaterThan(2)
    expect(await store.loadAside('20251210_9')).toBeUndefined()
  })

  it('has what happens meanwhile or not, and may have gone', async () => {
    const store = open()
    const { id } = store.create(fresh, [says('a')])
    const loading = store.loadAside(id)
    store.addMessages(id, [says('b')])
    const session = await loading
    expect(session?.message_count).toBe(session?.conversation.length)
    const second = store.loadAside(id)
    store.delete(id)
    expect(await second.then((one) => one?.id ?? id)).toBe(id)
  })

  it('that cannot be read is an error', async () => {
    const store = open()
    const { id } = store.create(fresh)
    appendFileSync(log(id), 'no JSON\n')
    await expect(store.loadAside(id)).rejects.toThrow('Session cannot be read')
  })
})
