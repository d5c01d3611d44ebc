import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryRoot } from '../testing/temporary-root.ts'
import { recordingLogger, type LogEntry } from '../testing/test-app.ts'
import { SessionStore } from './session-store.ts'

const user = '{"role":"user","created":1,"content":[{"type":"text","text":"a"}]}'

/** A store in a directory with session files of older versions. */
async function open(files: Record<string, string | Buffer>, modified?: string): Promise<{ root: string; store: SessionStore; logs: LogEntry[] }> {
  const root = temporaryRoot()
  mkdirSync(join(root, 'sessions'))
  for (const [name, text] of Object.entries(files)) {
    const path = join(root, 'sessions', name)
    writeFileSync(path, text)
    if (modified !== undefined) utimesSync(path, 0, Date.parse(modified) / 1000)
  }
  const { logger, entries } = recordingLogger()
  const store = new SessionStore(root, logger, () => new Date('2025-12-10T23:00:00Z'))
  await store.open()
  return { root, store, logs: entries }
}

describe('session files of older versions (GA 17.3)', () => {
  it('are imported as far as they can be read, and are kept', async () => {
    const { root, store } = await open({ '20251210_093011.jsonl': Buffer.concat([Buffer.from(`{"description":" a  b "}\n${user}\nnonsense\n{}\n${user}\n\xff\n`, 'latin1'), Buffer.from(user)]) }, '2025-12-11T01:02:03Z')
    expect(await store.load('20251210_093011')).toMatchObject({ name: 'a b', working_dir: '', session_type: 'user', updated_at: '2025-12-11T01:02:03Z', message_count: 2 })
    expect((await store.create({ working_dir: '', name: 'n', session_type: 'user' })).id).toBe('20251210_93012')
    expect(readdirSync(join(root, 'sessions')).sort()).toEqual(['20251210_093011.jsonl', 'log'])
  })

  it.each(['', '\n', '[]', '{}', '{"name":1}', '{"name":"x","recipe":{}}', '\xff'])('like %j are left out, and logged', async (text) => {
    const { store, logs } = await open({ 'bad.jsonl': Buffer.from(text, 'latin1'), 'good.jsonl': '{"name":"n"}' })
    expect(store.list().map(({ id }) => id)).toEqual(['good'])
    expect(logs).toMatchObject([{ message: 'old session not taken over', fields: { file: 'bad.jsonl' } }])
  })

  it('are imported once, and completely', async () => {
    const { root, store } = await open({ 'a.jsonl': '{"name":"n"}' })
    store.delete('a')
    writeFileSync(join(root, 'sessions/b.jsonl'), '{"name":"n"}')
    const again = new SessionStore(root, recordingLogger().logger)
    await again.open()
    expect(again.list()).toEqual([])
    expect(readFileSync(join(root, 'sessions/a.jsonl'), 'utf8')).toBe('{"name":"n"}')
  })
})
