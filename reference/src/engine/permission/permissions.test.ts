import { temporaryRoot } from '../../testing/temporary-root.ts'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { rootPaths } from '../../settings/paths.ts'
import { Settings } from '../../settings/settings.ts'
import { parseYaml } from '../../wire/yaml/yaml.ts'
import { Permissions, UnreadablePermissionsError, setPermissions } from './permissions.ts'

let settings: Settings
let file: string

beforeEach(() => {
  settings = new Settings(rootPaths(temporaryRoot()), {})
  mkdirSync(settings.paths.config)
  file = join(settings.paths.config, 'permission.yaml')
})

const stored = (): unknown => parseYaml(readFileSync(file))

describe('permission.yaml (G51)', () => {
  it.each([
    '', '- user', 'user: [', 'user: 1', 'user: {always_allow: [t], ask_before: []}', 'user: {always_allow: [t], ask_before: [], never_allow: null}',
    'user: {always_allow: [t], ask_before: [], never_allow: [5]}', 'user: {always_allow: [t], ask_before: [], never_allow: []}\nother: {}',
    'user: {always_allow: [t], ask_before: [], never_allow: []}\nother: []',
  ])('that says %j counts as empty, and is replaced', (text) => {
    writeFileSync(file, text)
    expect(new Permissions(settings).of('user', 't')).toBeNull()
    setPermissions(settings, [{ tool_name: 'a', permission: 'ask_before' }])
    expect(stored()).toEqual({ user: { always_allow: [], ask_before: ['a'], never_allow: [] } })
  })

  it('keeps other categories, but no other members', () => {
    writeFileSync(file, 'smart_approve: {always_allow: [t], ask_before: [], never_allow: [], more: 1}\n__proto__: {always_allow: [], ask_before: [], never_allow: [p]}\nuser: {more: 1, never_allow: [u, t], ask_before: [], always_allow: []}\n')
    setPermissions(settings, [{ tool_name: 't', permission: 'always_allow' }])
    expect(readFileSync(file, 'utf8')).toBe(
      ['smart_approve', '__proto__', 'user'].map((name, i) =>
        `${name}:\n  always_allow:${i === 1 ? ' []' : '\n    - t'}\n  ask_before: []\n  never_allow:${i === 0 ? ' []' : `\n    - ${i === 1 ? 'p' : 'u'}`}\n`,
      ).join(''),
    )
    expect(new Permissions(settings).of('user', 't')).toBe('always_allow')
  })

  it('has each tool in one list, last, with its last level', () => {
    const set = (...changes: [string, 'always_allow' | 'ask_before' | 'never_allow'][]): void => {
      setPermissions(settings, changes.map(([name, permission]) => ({ tool_name: name, permission })))
    }
    set(['a', 'ask_before'], ['b', 'ask_before'], ['c', 'ask_before'])
    set(['a', 'never_allow'], ['b', 'never_allow'], ['a', 'ask_before'], ['constructor', 'always_allow'], ['no', 'always_allow'], ['', 'always_allow'])
    expect(stored()).toEqual({ user: { always_allow: ['constructor', 'no', ''], ask_before: ['c', 'a'], never_allow: ['b'] } })
  })

  it('takes many changes at once', () => {
    const changes = Array.from({ length: 4000 }, (_, i) => ({ tool_name: `tool${i % 3000}`, permission: 'ask_before' as const }))
    setPermissions(settings, changes)
    setPermissions(settings, changes)
    expect(new Permissions(settings).of('user', 'tool2999')).toBe('ask_before')
  })

  it('is not written without changes, nor if it would be too large', () => {
    setPermissions(settings, [])
    expect(existsSync(file)).toBe(false)
    setPermissions(settings, [{ tool_name: 'a', permission: 'ask_before' }])
    const before = readFileSync(file, 'utf8')
    const tooLarge = [{ tool_name: 'b', permission: 'ask_before' }, { tool_name: 'x'.repeat(2 << 20), permission: 'ask_before' }] as const
    expect(() => { setPermissions(settings, tooLarge) }).toThrow('more than')
    expect(readFileSync(file, 'utf8')).toBe(before)
  })

  it('that cannot be read is an error, and stays', () => {
    writeFileSync(file, Buffer.from('a: "\xff"', 'latin1'))
    for (const changes of [[], [{ tool_name: 'a', permission: 'ask_before' }] as const]) {
      expect(() => { setPermissions(settings, changes) }).toThrow(UnreadablePermissionsError)
    }
    expect(readFileSync(file, 'latin1')).toBe('a: "\xff"')
  })
})
