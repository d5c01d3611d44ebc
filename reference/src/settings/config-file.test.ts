import { temporaryRoot } from '../testing/temporary-root.ts'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { withMember } from '../wire/json/ordered.ts'
import { backUp } from './config-file.ts'
import { rootPaths } from './paths.ts'
import { Settings } from './settings.ts'

let directory: string
let settings: Settings

beforeEach(() => {
  const root = temporaryRoot()
  directory = join(root, 'config')
  mkdirSync(directory)
  settings = new Settings(rootPaths(root), { GOOSE_DISABLE_KEYRING: '' })
})

function path(name: string): string {
  return join(directory, name)
}

function write(name: string, text: string): void {
  writeFileSync(path(name), text)
}

function read(name: string): string {
  return readFileSync(path(name), 'utf8')
}

function set(key: string, value: unknown): void {
  settings.change((before) => withMember(before, key, value))
}

async function setSecret(key: string, value: unknown): Promise<void> {
  await settings.setSecret(key, value)
}

/** A value in this many arrays. */
function deep(levels: number, inner: unknown = []): unknown {
  return levels === 0 ? inner : [deep(levels - 1, inner)]
}

/** The texts of the backups, newest first; a dash for a missing one. */
function backups(): string[] {
  return ['', '.1', '.2', '.3', '.4', '.5', '.6'].map((end) => (existsSync(path(`config.yaml.bak${end}`)) ? read(`config.yaml.bak${end}`) : '-'))
}

describe('a change of the settings (G41)', () => {
  it('keeps the order of the keys, and the bytes of the earlier file as a backup', () => {
    write('config.yaml', '# mine\nb:   1\na: 2\n')
    set('b', { z: 1, a: [] })
    set('c', null)
    expect(read('config.yaml')).toBe('b:\n  z: 1\n  a: []\na: 2\nc: null\n')
    expect(backups()).toEqual(['b:\n  z: 1\n  a: []\na: 2\n', '# mine\nb:   1\na: 2\n', '-', '-', '-', '-', '-'])
  })

  it('moves six backups, and gaps with them, also if it changes nothing', () => {
    for (let i = 0; i < 9; i++) set('k', i)
    expect(backups()).toEqual(['k: 7\n', 'k: 6\n', 'k: 5\n', 'k: 4\n', 'k: 3\n', 'k: 2\n', '-'])
    rmSync(path('config.yaml.bak.1'))
    set('k', 8)
    expect(backups()).toEqual(['k: 8\n', 'k: 7\n', '-', 'k: 5\n', 'k: 4\n', 'k: 3\n', '-'])
  })

  it('creates missing directories, and files that only the user can access', async () => {
    rmSync(directory, { recursive: true })
    await setSecret('s', 1)
    set('a', 1)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(directory)) chmodSync(path(name), 0o666)
    await setSecret('s', 2)
    set('a', 2)
    const modes = readdirSync(directory).map((name) => [name, statSync(path(name)).mode & 0o777])
    expect(modes).toEqual([['config.yaml', 0o600], ['config.yaml.bak', 0o600], ['config.yaml.bak.1', 0o666], ['secrets.yaml', 0o600]])
  })

  it('does not begin if the new file could not be read again (G40)', async () => {
    write('config.yaml', 'a: 1\n')
    const tooMany = Array.from({ length: 1_000_000 }, () => 1)
    for (const value of ['x'.repeat(2 << 20), '\u0000'.repeat(400_000), deep(499), deep(500, 1), tooMany]) {
      expect(() => { set('b', value) }).toThrow()
      await expect(setSecret('b', value)).rejects.toThrow()
    }
    expect(readdirSync(directory)).toEqual(['config.yaml'])
    expect(read('config.yaml')).toBe('a: 1\n')
    set('b', deep(498))
    expect(settings.stored()).toEqual({ a: 1, b: deep(498) })
  })

  it('stores a value on one line if indentation would make it too large', () => {
    const value = deep(400, Array.from({ length: 3000 }, () => 1))
    set('b', value)
    expect(settings.read('b')).toEqual(value)
    set('c', 1)
    expect(settings.stored()).toEqual({ b: value, c: 1 })
  })

  it('fails if a backup cannot be moved, and changes nothing', () => {
    write('config.yaml', 'a: 1\n')
    write('config.yaml.bak.4', 'a: 0\n')
    mkdirSync(path('config.yaml.bak.5/x'), { recursive: true })
    expect(() => { set('a', 2) }).toThrow()
    expect(read('config.yaml')).toBe('a: 1\n')
    expect(readdirSync(directory)).toEqual(['config.yaml', 'config.yaml.bak.4', 'config.yaml.bak.5'])
  })

  it('moves no backup before the new texts are on the disk', () => {
    for (let i = 0; i < 3; i++) set('k', i)
    const before = backups()
    // The limit is that of a disk: a write beyond it fails.
    const limited = spawnSync('bash', ['-c', 'ulimit -f 8; exec "$@"', 'bash', process.execPath, '--import', 'tsx', '-e', `
      process.on('SIGXFSZ', () => {})
      const { Settings } = await import(${JSON.stringify(import.meta.resolve('./settings.ts'))})
      const { rootPaths } = await import(${JSON.stringify(import.meta.resolve('./paths.ts'))})
      try { new Settings(rootPaths(${JSON.stringify(join(directory, '..'))}), {}).change(() => ({ k: 'x'.repeat(20000) })) } catch (error) { process.stdout.write(error.code) }
    `], { encoding: 'utf8' })
    expect(limited.stdout, limited.stderr).toBe('EFBIG')
    expect(backups()).toEqual(before)
    expect(read('config.yaml')).toBe('k: 2\n')
  })

  it('does not follow links to backups, and moves links to nothing', () => {
    write('config.yaml', 'a: 1\n')
    write('other', 'mine')
    symlinkSync('other', path('config.yaml.bak'))
    symlinkSync('nowhere', path('config.yaml.bak.1'))
    set('a', 2)
    expect([read('other'), read('config.yaml.bak')]).toEqual(['mine', 'a: 1\n'])
    expect([readlinkSync(path('config.yaml.bak.1')), readlinkSync(path('config.yaml.bak.2'))]).toEqual(['other', 'nowhere'])
  })

  it('changes the file to which a link leads', async () => {
    mkdirSync(path('dots'))
    write('dots/c', 'a: 1\n')
    write('dots/s', 'a: 1\n')
    symlinkSync('dots/c', path('config.yaml'))
    symlinkSync(path('dots/s'), path('link'))
    symlinkSync('link', path('secrets.yaml'))
    set('b', 2)
    await setSecret('b', 2)
    expect([readlinkSync(path('config.yaml')), readlinkSync(path('secrets.yaml'))]).toEqual(['dots/c', 'link'])
    expect([read('dots/c'), read('dots/s')]).toEqual(['a: 1\nb: 2\n', 'a: 1\nb: 2\n'])
    expect(readdirSync(path('dots'))).toEqual(['c', 's'])
    expect(lstatSync(path('config.yaml.bak')).isFile()).toBe(true)
  })

  it.each([
    ['a list', () => { write('secrets.yaml', '- a\n') }],
    ['a FIFO', () => { spawnSync('mkfifo', [path('secrets.yaml')]) }],
    ['a device', () => { symlinkSync('/dev/zero', path('secrets.yaml')) }],
    ['a directory', () => { mkdirSync(path('secrets.yaml')) }],
    ['a link to itself', () => { symlinkSync('secrets.yaml', path('secrets.yaml')) }],
    ['not UTF-8', () => { writeFileSync(path('secrets.yaml'), Buffer.from('a: "\xff"', 'latin1')) }],
  ])('of secrets fails if their file is %s', async (_, make) => {
    make()
    const { ino, mtimeMs } = lstatSync(path('secrets.yaml'))
    await expect(settings.secret('a')).rejects.toThrow()
    await expect(setSecret('a', 1)).rejects.toThrow()
    expect(lstatSync(path('secrets.yaml'))).toMatchObject({ ino, mtimeMs })
    expect(readdirSync(directory)).toEqual(['secrets.yaml'])
  })

  it('of another process is kept, because the file is read before each change', () => {
    const other = new Settings(settings.paths, {})
    set('a', 1)
    other.change((before) => withMember(before, 'b', 2))
    set('c', 3)
    expect(other.stored()).toEqual({ a: 1, b: 2, c: 3 })
  })
})

describe('backUp (G46)', () => {
  it('copies the bytes over the newest backup', () => {
    writeFileSync(path('config.yaml'), Buffer.from('- \xff', 'latin1'))
    write('config.yaml.bak.1', 'a: 0\n')
    for (let i = 0; i < 2; i++) expect(backUp(directory)).toEqual({ from: path('config.yaml'), to: path('config.yaml.bak') })
    expect(readFileSync(path('config.yaml.bak'), 'latin1')).toBe('- \xff')
    expect(readdirSync(directory)).toEqual(['config.yaml', 'config.yaml.bak', 'config.yaml.bak.1'])
  })

  it('replaces a link, and does not follow it', () => {
    write('config.yaml', 'a: 1\n')
    write('other', 'mine')
    symlinkSync('other', path('config.yaml.bak'))
    backUp(directory)
    expect([read('other'), read('config.yaml.bak')]).toEqual(['mine', 'a: 1\n'])
  })

  it('fails without a file, and creates none', () => {
    expect(() => backUp(directory)).toThrow('ENOENT')
    expect(readdirSync(directory)).toEqual([])
  })
})
