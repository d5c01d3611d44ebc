import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { IgnoreRules } from './ignore-rules.ts'

/** A directory with some files, and a file of rules if `rules` is given. */
function ruled(rules?: string | Buffer): { directory: string; ignored: (path: string) => boolean } {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'reference-')))
  mkdirSync(join(directory, 'build/deep'), { recursive: true })
  writeFileSync(join(directory, 'build/deep/x'), '')
  if (rules !== undefined) writeFileSync(join(directory, '.gooseignore'), rules)
  const all = new IgnoreRules(directory)
  return { directory, ignored: (path) => all.ignores(join(directory, path)) }
}

describe('ignored paths (X42)', () => {
  it.each<[rules: string | undefined, path: string, ignored: boolean]>([
    [undefined, '.env', true],
    [undefined, 'a/.env.local', true],
    [undefined, 'secrets.yaml', true],
    [undefined, '.envs', false],
    [undefined, '.ENV', false],
    ['build/\n', 'build', true],
    ['build/\n', 'build/deep/x', true],
    ['build/\n!build/deep/x\n', 'build/deep/x', true],
    ['build/\n', 'a/build', false],
    ['*.log\n!keep.log\r\n', 'keep.log', false],
    ['*.log\n!keep.log\n', 'other.log', true],
    ['# .env\n', '.env', false],
    ['/x\n', 'build/deep/x', false],
    ['x\n', '.', false],
  ])('with %j: %s is %s', (rules, path, is) => {
    expect(ruled(rules).ignored(path)).toBe(is)
  })

  it('include the targets of links, and are relative to the root outside of the directory', () => {
    const { directory, ignored } = ruled()
    symlinkSync(join(directory, '.env'), join(directory, 'link'))
    symlinkSync(join(directory, 'secrets.d'), join(directory, 'way'))
    writeFileSync(join(directory, '.env'), '')
    mkdirSync(join(directory, 'secrets.d'))
    expect([ignored('link'), ignored('way/new'), ignored('../.env'), ignored('../x')]).toEqual([true, true, true, false])
  })

  it.each([Buffer.from([0xff]), Buffer.alloc((1 << 20) + 1, '\n')])('are none where the rules cannot be read', (rules) => {
    expect(ruled(rules).ignored('.env')).toBe(false)
  })
})
