import { describe, expect, it } from 'vitest'
import { parseExactBody } from './body-text.ts'
import { JsonDocument, parseJsonDocument } from './document.ts'
import { JsonNumber } from './number.ts'
import { JsonSyntaxError } from './parse.ts'
import { prettyJson, stringifyJson } from './stringify.ts'

describe('a JSON document', () => {
  it.each([
    '{}', '[]', '[[],{},[{}]]', ' {"a" : [1, -2.5 ,"x\\"\\\\" , null, true,false] , "b":{"c":{}}}\r\n\t', '0', '"ż\\u017c"', 'null',
    '{"":"","__proto__":{"x":1},"constructor":2}',
  ])('reads %s as the engine does', (text) => {
    const { value } = new JsonDocument(text)
    expect(value).toEqual(JSON.parse(text))
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)))
  })

  it.each([
    '', ' ', '{', '[', '{}x', '{} {}', '[1,]', '[,1]', '[1 2]', '{"a"}', '{"a":}', '{"a":1,}', '{a:1}', '{,}', "{'a':1}", 'nul', 'truefalse',
    '01', '+1', '1.', '.5', '-', 'NaN', '"', '"\\"', '"\\x"', '"\n"', '"\\ud800"', '"\\udc00x"', ']', '}', '[}', '{]', '\uFEFF{}',
  ])('rejects %j', (text) => {
    expect(() => new JsonDocument(text)).toThrow(JsonSyntaxError)
  })

  it('rejects bytes that are not UTF-8, and a byte order mark', () => {
    expect(() => parseJsonDocument(Buffer.from('"a\xff"', 'latin1'))).toThrow('invalid UTF-8')
    expect(() => parseJsonDocument(Buffer.from('\uFEFF{}'))).toThrow(JsonSyntaxError)
    expect(parseJsonDocument(Buffer.from('"ż"')).value).toBe('ż')
  })

  it('accepts 9,000 levels and no more (S27)', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    expect(new JsonDocument(nested(9000)).value).toBeInstanceOf(Array)
    expect(() => new JsonDocument(nested(9001))).toThrow('nested more than 9000 levels deep')
  })

  it('keeps the notation of a number that JavaScript would write differently', () => {
    const text = '[1,1.5,-3,1e-7,1.0,1e3,-0,9007199254740993,18446744073709551616,0.10,1e400]'
    const { value } = new JsonDocument(text)
    expect(value).toEqual([
      1, 1.5, -3, 1e-7, ...['1.0', '1e3', '-0', '9007199254740993', '18446744073709551616', '0.10', '1e400'].map((text) => new JsonNumber(text)),
    ])
    expect(stringifyJson(value)).toBe(text)
    expect(prettyJson({ a: value })).toBe('{\n  "a": [\n    ' + text.slice(1, -1).replaceAll(',', ',\n    ') + '\n  ]\n}')
    expect(JSON.stringify(value)).toBe('[1,1.5,-3,1e-7,1,1000,0,9007199254740992,18446744073709552000,0.1,null]')
  })

  it.each([
    '{"b":1,"10":2,"9":3,"a":4}', '{"10":1,"9":2}', '{"a":1,"0":2}', '{"1":1,"a":2,"2":3}', '{"x":[{"b":{"z":0,"7":{"1":1,"0":2}}}],"3":0}',
    '{"a":1,"4294967294":2}', '{"4294967295":1,"4294967294":2}', '{"a":0,"__proto__":{"b":1,"1":2},"1":3}', '{"0":1,"1":2,"a":3}', '{"b":1,"01":2,"-1":3,"1.0":4}',
    '{"b":1,"1":2,"toJSON":{"c":3,"2":4}}',
  ])('keeps the order of keys: %s (G2)', (text) => {
    const { value } = new JsonDocument(text)
    expect(stringifyJson(value)).toBe(text)
    expect(stringifyJson([value, new JsonNumber('1.0')])).toBe(`[${text},1.0]`)
    expect(prettyJson(value).replace(/\s/g, '')).toBe(text)
    expect(value).toEqual(JSON.parse(text))
  })

  it('remembers repeated keys, which keep their first positions', () => {
    const ordered = new JsonDocument('{"b":1,"1":2,"b":3,"1":4,"c":5}')
    expect(stringifyJson(ordered.value)).toBe('{"b":3,"1":4,"c":5}')
    expect(['b', '1', 'c'].map((key) => ordered.isRepeated(ordered.value as object, key))).toEqual([true, true, false])
  })

  it('remembers repeated keys', () => {
    const document = new JsonDocument('{"a":1,"b":1,"a":2,"__proto__":0,"__proto__":1}')
    const value = document.value as Record<string, unknown>
    expect(JSON.stringify(value)).toBe('{"a":2,"b":1,"__proto__":1}')
    expect(['a', 'b', '__proto__'].map((key) => document.isRepeated(value, key))).toEqual([true, false, true])
    expect(document.replacedIn(value)).toEqual([1, 0])
    const more = new JsonDocument('{"a":[1],"b":[[2]],"a":3,"b":4,"a":5}')
    expect(more.replacedIn(more.value as object)).toEqual([[1], 3, [[2]]])
    expect(more.replacedIn([])).toEqual([])
  })

  it('knows where a value ends, in bytes', () => {
    const document = new JsonDocument('{"a":"ż",\n "b":[{"c":1},\n {"c":22}]}')
    expect(document.endOf([])).toBe('line 3 column 11')
    expect(document.endOf(['a'])).toBe('line 1 column 9')
    expect(document.endOf(['b', 1, 'c'])).toBe('line 3 column 8')
    expect(document.endOf(['b', 0])).toBe('line 2 column 13')
  })

  it('reports the position of a mistake', () => {
    expect(() => new JsonDocument('{\n "a" 1}')).toThrow('expected `:` at line 2 column 5')
    expect(() => new JsonDocument('')).toThrow('EOF while parsing a value at line 1 column 0')
  })
})

it('the body of a call keeps what a program would read in another way, except unpaired surrogates', async () => {
  const text = '{"n":1.50,"10":1e3,"9":[12345678901234567890],"\\ud83d\\ude00":"\\udc00 \\ud800"}'
  const value = await parseExactBody(Buffer.from(`\ufeff${text}`))
  expect(stringifyJson(value)).toBe('{"n":1.50,"10":1e3,"9":[12345678901234567890],"😀":"\ufffd \ufffd"}')
})
