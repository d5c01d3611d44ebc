import { describe, expect, it } from 'vitest'
import { jsonBytes, prettyJson, stringifyJson } from './stringify.ts'

describe('stringifyJson', () => {
  it('escapes as little as JSON allows (CT 3.1)', () => {
    expect(stringifyJson('<b>&\u2028\u2029ż😀/')).toBe('"<b>&\u2028\u2029ż😀/"')
    expect(stringifyJson('\b\t\n\f\r\u0000\u001f\u007f"\\')).toBe('"\\b\\t\\n\\f\\r\\u0000\\u001f\u007f\\"\\\\"')
    expect(stringifyJson('\ud800x\udfff')).toBe('"\\ud800x\\udfff"')
  })

  it('writes a value that is too deep for JSON.stringify', () => {
    const depth = 20_000
    let value: unknown = { b: ['ż\n', null, 1.5, true], u: undefined, a: {} }
    for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value, i] : { k: value, __: i }
    expect(() => JSON.stringify(value)).toThrow(RangeError)

    const text = stringifyJson(value)
    expect(text).toContain('{"b":["ż\\n",null,1.5,true],"a":{}},0],"__":1},2]')
    expect(text.startsWith('{"k":[{"k":[')).toBe(true)
    expect(text.endsWith(`,${depth - 2}],"__":${depth - 1}}`)).toBe(true)
  })

  it('writes the digits of a bigint', () => {
    expect(stringifyJson({ a: [9007199254740993n], b: 'x' })).toBe('{"a":[9007199254740993],"b":"x"}')
  })
})

describe('jsonBytes', () => {
  it.each([65_535, 65_536, 131_072])('writes a long text like stringifyJson, with a surrogate pair after %i units', async (length) => {
    const value = { a: `${'ż'.repeat(length - 1)}😀\ud800${'x'.repeat(70_000)}`, b: ['\n'.repeat(200_000), 1n] }
    expect(Buffer.concat(await jsonBytes(value)).toString()).toBe(stringifyJson(value))
  })
})

describe('prettyJson', () => {
  it('writes a value that JSON.stringify rejects', () => {
    const value = (n: unknown): unknown => ({ a: [n, { b: 1 }], c: {}, d: [], e: [[]], f: 'x' })
    expect(prettyJson(value(7n))).toBe(JSON.stringify(value(7), null, 2))
    expect(prettyJson(value(7))).toBe(JSON.stringify(value(7), null, 2))
  })
})
