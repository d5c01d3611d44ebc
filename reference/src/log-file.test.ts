import { temporaryRoot } from './testing/temporary-root.ts'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LogFile } from './log-file.ts'

const now = new Date('2026-11-22T20:05:09.123Z')
const never = (why: string): void => {
  throw new Error(why)
}

describe('the log file (S47)', () => {
  it('has the lines of one run, and only its user can read it', () => {
    const root = join(temporaryRoot(), 'logs')
    const log = new LogFile(root, now, never)
    log.write('one\n')
    log.write('two\n')
    const path = join(root, '2026-11-22', `200509-${process.pid}.log`)
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n')
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('has at most 16 MiB, and says so in its last line', () => {
    const root = temporaryRoot()
    const log = new LogFile(root, now, never)
    for (let i = 0; i < 20; i++) log.write(`${'x'.repeat(1024 * 1024 - 1)}\n`)
    const bytes = readFileSync(join(root, '2026-11-22', `200509-${process.pid}.log`))
    expect(bytes.length).toBeLessThanOrEqual(16 * 1024 * 1024)
    expect(bytes.toString().trimEnd().split('\n').slice(14)).toEqual(['x'.repeat(1024 * 1024 - 1), expect.stringContaining('log file full')])
  })

  it('is kept for 14 days after its run', () => {
    const root = temporaryRoot()
    const day = 24 * 60 * 60
    const old = (path: string, days: number): void => {
      mkdirSync(join(root, path, '..'), { recursive: true })
      writeFileSync(join(root, path), '')
      utimesSync(join(root, path), 0, now.getTime() / 1000 - days * day)
    }
    old('2026-11-01/1-1.log', 15)
    old('2026-11-02/1-1.log', 15)
    old('2026-11-02/2-1.log', 13)
    old('2026-11-02/notes.txt', 100)
    old('mine/1-1.log', 100)
    new LogFile(root, now, never)
    expect(['2026-11-01', '2026-11-02/1-1.log', '2026-11-02/2-1.log', '2026-11-02/notes.txt', 'mine/1-1.log'].map((path) => existsSync(join(root, path))))
      .toEqual([false, false, true, true, true])
  })

  it('is reported once if it cannot be written', () => {
    const complaints: string[] = []
    const file = join(temporaryRoot(), 'file')
    writeFileSync(file, '')
    chmodSync(file, 0o600)
    const log = new LogFile(file, now, (why) => complaints.push(why))
    log.write('one\n')
    log.write('two\n')
    expect(complaints).toHaveLength(1)
  })
})
