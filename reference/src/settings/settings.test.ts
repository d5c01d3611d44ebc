import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { JsonNumber } from '../wire/json/number.ts'
import { recordingLogger } from '../testing/test-app.ts'
import type { Logger } from '../log.ts'
import { typedValue } from './environment.ts'
import { pathsOf, prepareDirectories, rootPaths } from './paths.ts'
import { replaceFile } from './private-files.ts'
import { Settings } from './settings.ts'
import { MappingFile, renderMapping, type Mapping } from './yaml-file.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'settings-'))
})

afterEach(() => {
  rmSync(root, { recursive: true })
})

function settings(env: Record<string, string> = {}): Settings {
  return new Settings(rootPaths(root), env)
}

function load(logger?: Logger): Mapping {
  return new Settings(rootPaths(root), {}, logger).stored()
}

function path(name: string): string {
  return join(root, 'config', name)
}

function write(name: string, text: string): void {
  mkdirSync(dirname(path(name)), { recursive: true })
  writeFileSync(path(name), text)
}

function read(name: string): string {
  return readFileSync(path(name), 'utf8')
}

describe('the directories (GA 1.2, 1.3)', () => {
  it.each<[env: Record<string, string>, config: string, data: string, state: string]>([
    [{}, '/home/me/.config/goose', '/home/me/.local/share/goose', '/home/me/.local/state/goose'],
    [{ GOOSE_PATH_ROOT: '/r', XDG_DATA_HOME: '/d' }, '/r/config', '/r/data', '/r/state'],
    [{ GOOSE_PATH_ROOT: '', XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d', XDG_STATE_HOME: '/s' }, '/c/goose', '/d/goose', '/s/goose'],
    [{ XDG_CONFIG_HOME: 'c', XDG_DATA_HOME: '' }, '/home/me/.config/goose', '/home/me/.local/share/goose', '/home/me/.local/state/goose'],
  ])('of %j', (env, config, data, state) => {
    expect(pathsOf({ HOME: '/home/me', ...env })).toEqual({ config, data, state })
  })

  it('without a home directory do not exist', () => {
    expect(pathsOf({ HOME: '', XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d' })).toBeUndefined()
    expect(pathsOf({ XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d', XDG_STATE_HOME: '/s' })).toBeDefined()
  })
})

describe('a value of the environment (GA 1.4, G14)', () => {
  it.each<[text: string, value: unknown]>([
    ['8080', 8080],
    ['"8080"', '8080'],
    ['[1]', [1]],
    ['{"a":null}', { a: null }],
    ['TRUE', true],
    ['False', false],
    ['007', 7],
    ['+5', 5],
    ['+9007199254740993', new JsonNumber('9007199254740993')],
    ['+9223372036854775808', 9223372036854775808],
    ['.5', 0.5],
    ['1.', 1],
    ['9007199254740993', new JsonNumber('9007199254740993')],
    ['gpt-4o', 'gpt-4o'],
    ['', ''],
    ['inf', 'inf'],
    ['1e999', new JsonNumber('1e999')],
    ['.5e999', '.5e999'],
    [' true', true],
    ['yes', 'yes'],
  ])('%j is typed', (text, value) => {
    expect(typedValue(text)).toEqual(value)
  })
})

describe('a setting (GA 1.4)', () => {
  it('is looked up in the environment first, and then in the file', () => {
    write('config.yaml', 'goose_model: file\nGOOSE_MODEL: FILE\nGOOSE_MODE: chat\n')
    const both = settings({ GOOSE_MODEL: 'env', GOOSE_MODE: '' })
    expect(both.get('GOOSE_MODEL')).toBe('env')
    expect(both.get('goose_model')).toBe('env')
    expect(both.get('GOOSE_MODE')).toBe('')
    expect(settings().get('goose_model')).toBe('file')
    expect(settings().get('nope')).toBeUndefined()
    expect(settings().get('constructor')).toBeUndefined()
  })

  it('is read again on every access', () => {
    const one = settings()
    expect(one.get('x')).toBeUndefined()
    write('config.yaml', 'x: [1, 9007199254740993, 1.5, yes, ~, .inf, .NaN, 2001-12-14, 0o14]\n')
    expect(one.get('x')).toEqual([1, 9007199254740993n, 1.5, 'yes', null, '.inf', '.NaN', '2001-12-14', 12])
  })

  it.each<[text: string, value: unknown]>([
    ['1', 1],
    ['1.0', new JsonNumber('1.0')],
    ['+3.', new JsonNumber('3.0')],
    ['+12.E30', new JsonNumber('1.2e+31')],
    ['1e0', new JsonNumber('1e0')],
    ['12E30', new JsonNumber('12E30')],
    ['.5', 0.5],
    ['-2.50e1', new JsonNumber('-2.50e1')],
    ['1e-2', new JsonNumber('1e-2')],
    ['0.1000000000000000055', new JsonNumber('0.1000000000000000055')],
    ['+0.1000000000000000055', 0.1],
    ['1e999', new JsonNumber('1e999')],
    ['.1e999', '.1e999'],
    ['-0', 0],
    ['-9223372036854775809', -9223372036854775809n],
    ['+0x1F', '+0x1F'],
    ['0o17', 15],
    ['"1.0"', '1.0'],
  ])('%s is an integer only by its digits, and keeps them (G2, G39)', (text, value) => {
    write('config.yaml', `x: ${text}\n`)
    expect(settings().get('x')).toEqual(value)
    write('config.yaml', renderMapping(new MappingFile(path('config.yaml')).read()).toString())
    expect(settings().get('x')).toEqual(value)
  })

  it('that must be a text is ignored if it has another type', () => {
    expect(settings({ K: '5' }).text('K')).toBeUndefined()
    expect(settings({ K: '"5"' }).text('K')).toBe('5')
  })
})

describe('config.yaml (GA 10)', () => {
  it('is created when it is missing', () => {
    expect(load()).toEqual({})
    expect(read('config.yaml')).toBe('{}\n')
  })

  it('may be empty', () => {
    write('config.yaml', '\n')
    expect(load()).toEqual({})
    expect(read('config.yaml')).toBe('\n')
  })

  it.each(['[1]', 'text', 'a: [', 'a: 1\na: 2', 'a: b\0c', 'a: "\\ud800"', '{"a\\udc00b": 1}', ': bad', 'a: {: bad}', '? [a]\n: b', '? {a: 1}\n: b', 'a: ["\\udc00\\ud800"]'])('that says %j is replaced by the newest backup that is a mapping', (text) => {
    write('config.yaml', text)
    write('config.yaml.bak', '- no mapping')
    write('config.yaml.bak.1', 'x: 1 # as it was\n')
    write('config.yaml.bak.2', 'x: 2\n')
    expect(load()).toEqual({ x: 1 })
    expect(read('config.yaml')).toBe('x: 1 # as it was\n')
    expect(read('config.yaml.broken')).toBe(text)
  })

  it.each([
    ['a directory', () => {
      mkdirSync(path('config.yaml'))
    }],
    ['a FIFO', () => {
      spawnSync('mkfifo', [path('config.yaml')])
    }],
    ['a device', () => {
      symlinkSync('/dev/zero', path('config.yaml'))
    }],
    ['too large', () => {
      write('config.yaml', `x: 1\ny: ${'y'.repeat(2 << 20)}`)
    }],
  ])('that is %s counts as empty, and is not changed (G13)', (_, make) => {
    mkdirSync(path('.'), { recursive: true })
    make()
    const { ino, mtimeMs } = lstatSync(path('config.yaml'))
    expect(settings().get('x')).toBeUndefined()
    expect(load).toThrow('not a plain file')
    expect(lstatSync(path('config.yaml'))).toMatchObject({ ino, mtimeMs })
  })

  it('that is not UTF-8 cannot be read, and is not replaced (G38)', () => {
    write('config.yaml', '')
    writeFileSync(path('config.yaml'), Buffer.from('x: \xff', 'latin1'))
    expect(settings().get('x')).toBeUndefined()
    expect(load).toThrow('not UTF-8')
    expect(readFileSync(path('config.yaml'), 'latin1')).toBe('x: \xff')
    expect(readdirSync(path('.'))).toEqual(['config.yaml'])
  })

  it('is not restored from a backup that cannot be read (G38)', () => {
    write('config.yaml', '[')
    writeFileSync(path('config.yaml.bak'), Buffer.from('x: \xff', 'latin1'))
    mkdirSync(path('config.yaml.bak.1'))
    spawnSync('mkfifo', [path('config.yaml.bak.2')])
    symlinkSync('nowhere', path('config.yaml.bak.3'))
    write('config.yaml.bak.4', 'x: 4\n')
    expect(load()).toEqual({ x: 4 })
  })

  it('that cannot be restored counts as unreadable (G38)', () => {
    write('config.yaml', '[')
    mkdirSync(path('config.yaml.broken.5/x'), { recursive: true })
    write('config.yaml.broken.4', '')
    expect(load).toThrow('EISDIR')
    expect(read('config.yaml')).toBe('[')
    expect(settings().get('x')).toBeUndefined()
  })

  it('that is a link is repaired where it leads (G41)', () => {
    write('dots', '[')
    symlinkSync('dots', path('config.yaml'))
    write('config.yaml.bak', 'x: 1\n')
    expect(load()).toEqual({ x: 1 })
    expect(lstatSync(path('config.yaml')).isSymbolicLink()).toBe(true)
    expect(read('dots')).toBe('x: 1\n')
    expect(lstatSync(path('config.yaml.broken')).isFile()).toBe(true)
  })

  it('that is a link to nothing is missing, and becomes a plain file (G38, G41)', () => {
    write('file', '')
    symlinkSync('file/nothing', path('config.yaml'))
    expect(load()).toEqual({})
    expect(lstatSync(path('config.yaml')).isFile()).toBe(true)
  })

  it('makes no backup of a corrupt text, but keeps the text itself (G13)', () => {
    for (let i = 1; i < 9; i++) {
      write('config.yaml', `[${i}`)
      expect(load()).toEqual({})
    }
    expect(existsSync(path('config.yaml.bak'))).toBe(false)
    const broken = ['', '.1', '.2', '.3', '.4', '.5'].map((end) => read(`config.yaml.broken${end}`))
    expect(broken).toEqual(['[8', '[7', '[6', '[5', '[4', '[3'])
    expect(existsSync(path('config.yaml.broken.6'))).toBe(false)
  })

  it('can be read only by its user, and so can the copy of a broken text (G13)', () => {
    write('config.yaml', '[')
    chmodSync(path('config.yaml'), 0o666)
    chmodSync(path('.'), 0o777)
    const umask = process.umask(0)
    try {
      load()
    } finally {
      process.umask(umask)
    }
    for (const name of ['config.yaml', 'config.yaml.broken']) expect([name, statSync(path(name)).mode & 0o777]).toEqual([name, 0o600])
  })

  it('that is replaced is logged, with the name of the file that has its text (S48)', () => {
    const { logger, entries } = recordingLogger()
    load(logger)
    expect(entries).toEqual([])
    write('config.yaml', '[')
    load(logger)
    write('config.yaml.bak', 'a: 1')
    rmSync(path('config.yaml'))
    load(logger)
    expect(entries.map(({ fields }) => fields)).toEqual([
      { file: path('config.yaml'), from: null, kept: path('config.yaml.broken') },
      { file: path('config.yaml'), from: path('config.yaml.bak'), kept: null },
    ])
  })
})

describe('a file that does not change', () => {
  it('is parsed once', () => {
    const one = settings()
    write('config.yaml', 'x: [1]\n')
    const before = one.get('x')
    expect(one.get('x')).toBe(before)
    write('config.yaml', 'x: [2]\n')
    expect(one.get('x')).toEqual([2])
    write('config.yaml', 'x: [1]\n')
    expect(one.get('x')).toEqual([1])
    write('config.yaml', '[')
    expect(one.get('x')).toBeUndefined()
  })
})

describe('a secret (GA 1.4)', () => {
  it('is looked up in the environment first, and then in secrets.yaml', async () => {
    write('secrets.yaml', 'A: file\nB: file\n')
    const both = settings({ A: 'env' })
    expect(await Promise.all(['A', 'B', 'C'].map((key) => both.secret(key)))).toEqual(['env', 'file', undefined])
    expect(both.get('B')).toBeUndefined()
  })
})

describe('a variable (G43)', () => {
  it('hides the file even if it is null', async () => {
    write('config.yaml', 'x: 1\n')
    write('secrets.yaml', 'x: 1\n')
    const one = settings({ X: 'null' })
    expect([one.get('x'), await one.secret('x')]).toEqual([null, null])
  })

  it('has no empty name, and none with `=` or U+0000', () => {
    write('config.yaml', '{"": 1, "a=b": 2, "a\\0b": 3, "_": 4}\n')
    const env = Object.fromEntries(['', 'A=B', 'A\0B', '_'].map((name) => [name, 'env']))
    expect(['', 'a=b', 'a\0b', '_'].map((key) => settings(env).read(key))).toEqual([1, 2, 3, 'env'])
  })

  it('is found by the full upper case of a key (G34)', () => {
    expect(settings({ STRASSE: 's' }).read('straße')).toBe('s')
  })

  it("with the server's secret cannot be read, whatever the case, nor can what is stored under its name (G32)", async () => {
    write('config.yaml', 'GOOSE_SERVER__SECRET_KEY: stored\n')
    write('secrets.yaml', 'GOOSE_SERVER__SECRET_KEY: stored\n')
    const one = settings({ GOOSE_SERVER__SECRET_KEY: 'secret' })
    for (const key of ['GOOSE_SERVER__SECRET_KEY', 'goose_server__secret_key', 'gooſe_ſerver__secret_key']) {
      expect([one.get(key), one.read(key), await one.secret(key)]).toEqual([undefined, undefined, undefined])
    }
  })
})

describe('removeLeftFiles', () => {
  it('removes temporary files of long ago, and no others (G41)', () => {
    const names = ['.0b4fd1f2-4bb5-4a8e-9d8c-2a4d1d6a7c11.tmp', '.0b4fd1f2-4bb5-4a8e-9d8c-2a4d1d6a7c12.tmp', '.mine.tmp', 'old.tmp']
    for (const name of names) {
      write(name, 'A: secret\n')
      if (name !== names[1]) utimesSync(path(name), 0, 0)
    }
    prepareDirectories(settings().paths, new Date())
    expect(readdirSync(path('.'))).toEqual(names.slice(1))
  })
})

describe('replaceFile', () => {
  it('leaves no temporary file when it fails', () => {
    mkdirSync(path('secrets.yaml'), { recursive: true })
    expect(() => { replaceFile(path('secrets.yaml'), 'A: secret\n') }).toThrow('EISDIR')
    expect(readdirSync(path('.'))).toEqual(['secrets.yaml'])
  })
})
