import { describe, expect, it } from 'vitest'
import { JsonSyntaxError, maxDepth, parseJson } from './parse.ts'

function bytes(text: string): Uint8Array {
  return Buffer.from(text)
}

function nested(depth: number): string {
  return '[{"a":'.repeat(depth / 2) + '1' + '}]'.repeat(depth / 2)
}

describe('parseJson', () => {
  it.each([
    ['{"a":[1,"x",null,true]}', { a: [1, 'x', null, true] }],
    [' \t\r\n1 ', 1],
    ['"ż\\u017c"', 'żż'],
    ['null', null],
  ])('reads %s', (text, value) => {
    expect(parseJson(bytes(text))).toEqual(value)
  })

  it.each(['', ' ', '{', '{} x', '{}{}', "{'a':1}", '[1,]', 'nul', '{"a":1}\u0000'])('rejects %j', (text) => {
    expect(() => parseJson(bytes(text))).toThrow(JsonSyntaxError)
  })

  it('skips one byte order mark', () => {
    expect(parseJson(bytes('\uFEFF{}'))).toEqual({})
    expect(() => parseJson(bytes('\uFEFF\uFEFF{}'))).toThrow(JsonSyntaxError)
  })

  it('reads invalid UTF-8 as U+FFFD', () => {
    expect(parseJson(Buffer.from('"a\xffb\xc5"', 'latin1'))).toBe('a\uFFFDb\uFFFD')
  })

  it('uses the last of repeated keys', () => {
    expect(parseJson(bytes('{"a":1,"b":2,"a":3}'))).toEqual({ a: 3, b: 2 })
  })

  it('keeps a key __proto__ without touching the prototype', () => {
    const value = parseJson(bytes('{"__proto__":{"clientID":"x"}}')) as Record<string, unknown>
    expect(Object.keys(value)).toEqual(['__proto__'])
    expect(value.clientID).toBeUndefined()
  })

  it('accepts 9,000 levels of nesting and no more (S27)', () => {
    expect(parseJson(bytes(nested(9000)))).toBeInstanceOf(Array)
    expect(parseJson(bytes(`{"a":${nested(8998)},"b":[]}`))).toBeInstanceOf(Object)
    expect(() => parseJson(bytes(`[${nested(9000)}]`))).toThrow('nested more than 9000 levels deep')
  })

  it('counts levels of nesting, and only those', () => {
    const siblings = `[${'[],'.repeat(maxDepth)}[]]`
    expect(parseJson(bytes(siblings))).toHaveLength(maxDepth + 1)
    const brackets = '\\"[{'.repeat(2 * maxDepth)
    expect(parseJson(bytes(JSON.stringify(brackets)))).toBe(brackets)
  })
})
