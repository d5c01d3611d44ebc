import { describe, expect, it } from 'vitest'
import { parseYaml } from './yaml.ts'

const times = (count: number, line: (i: number) => string): string => Array.from({ length: count }, (_, i) => line(i)).join('')

describe('YAML (G13)', () => {
  it.each([
    ['a: &x [1, {b: c}]\nd: *x\n', { a: [1, { b: 'c' }], d: [1, { b: 'c' }] }],
    ['&k a: 1\nb: *k\n', { a: 1, b: 'a' }],
    ['a: &x 1\nb: [*x, &x 2, *x]\n', { a: 1, b: [1, 2, 2] }],
    ['\ufeffa: 1\n', { a: 1 }],
    ['', null],
  ])('%j is read', (text, value) => {
    expect(parseYaml(Buffer.from(text))).toEqual(value)
  })

  it.each(['a: 1\na: 2', 'a: {b: 1, b: 2}', 'a: &x [*x]', 'a: &x 1\nb: &x [*x]', 'a: *x', 'a: 1\n---\nb: 2', '? [a]\n: b', ': a', 'a: ]'])('%j is rejected', (text) => {
    expect(() => parseYaml(text)).toThrow(SyntaxError)
  })

  it('is UTF-8', () => {
    expect(() => parseYaml(Buffer.from('a: \xff', 'latin1'))).toThrow('not YAML')
    expect(() => parseYaml(Buffer.from('\ufeffa: b', 'utf16le'))).toThrow('not YAML')
  })

  it.each([
    ['keys', times(20_000, (i) => `k${i}: v\n`)],
    ['keys of a flow', `{${times(20_000, (i) => `k${i}: v, `)}}`],
    ['aliases and anchors', times(10_000, (i) => `k${i}: &a${i} v\nl${i}: *a${i}\n`)],
  ])('with many %s is read in linear time', (_, text) => {
    expect(Object.keys(parseYaml(text) as object)).toHaveLength(20_000)
  })

  it('ends with its first mistake', () => {
    expect(() => parseYaml(`a: b\nx: ${'"'.repeat(300_000)}`)).toThrow('not YAML at line 2, column 6: UNEXPECTED_TOKEN')
    expect(() => parseYaml(`x: ${']'.repeat(300_000)}`)).toThrow('not YAML at line 1, column 4: UNEXPECTED_TOKEN')
    expect(() => parseYaml(`x: [${','.repeat(20_000)}]`)).toThrow('not YAML at line 1, column 6: UNEXPECTED_TOKEN')
  })

  it('has at most 10 MiB of text, with its aliases expanded', () => {
    const text = (aliases: number): string => `x: &a "${'é'.repeat(512 * 1024 - 4)}"\ny: [${'*a,'.repeat(aliases)}]\n`
    expect(parseYaml(text(9))).toMatchObject({ y: { length: 9 } })
    expect(() => parseYaml(text(10))).toThrow('too large')
  })

  it('has at most 500 levels, with its aliases expanded', () => {
    const text = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`
    expect(parseYaml(text(500))).toHaveLength(1)
    expect(() => parseYaml(text(501))).toThrow('too deep')
    for (const levels of [3000, 200_000]) expect(() => parseYaml(text(levels))).toThrow('TOO_DEEP')
    expect(() => parseYaml(`a: ${'['.repeat(30_000)}`)).toThrow('TOO_DEEP')
    expect(() => parseYaml(`x:\n${'- '.repeat(600)}a\n`)).toThrow(SyntaxError)
    const chain = (length: number): string => `a0: &a0 []\n${times(length, (i) => `a${i + 1}: &a${i + 1} [*a${i}]\n`)}`
    expect(Object.keys(parseYaml(chain(498)) as object)).toHaveLength(499)
    expect(() => parseYaml(chain(499))).toThrow('too deep')
  })

  it('has at most 1,000,000 values, with its aliases expanded', () => {
    const text = (more: string): string => `a: &a [${'1,'.repeat(999)}]\nb: &b [${'*a,'.repeat(998)}]\nc: ${more}`
    expect(parseYaml(text('1'))).toMatchObject({ b: { length: 998 } }) // 1 + 1000 + 1 + 998,000 + 1
    expect(parseYaml(text(`[${'1,'.repeat(997)}]`))).toBeTruthy()
    expect(() => parseYaml(text(`[${'1,'.repeat(998)}]`))).toThrow('too large')
  })
})
