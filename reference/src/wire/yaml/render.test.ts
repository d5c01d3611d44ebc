import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { JsonDocument } from '../json/document.ts'
import { stringifyJson } from '../json/stringify.ts'
import { renderYaml } from './render.ts'
import { parseYaml } from './yaml.ts'

const large = 2 ** 21
const words = ['y', 'n', 'No', 'YES', 'on', 'oFF', 'true', 'False', 'null', 'NULL', '~', '1_000', '0o7', '0x1F', '007', '1e3', '.5', '1.', '+1', '-1', '0b1', '.inf', '-.INF', '.nan', '2001-01-01', '12:30:45', '5', '1.5', '<<', '=', '']
const odd = [
  ...words, '-', '---', '...', '- a', 'a: b', 'a:', '# x', 'a #b', "it's", '"q"', '*a', '&a', '!t', '%x', '@x', '`x`', '{', '[a]', '|', '>', ',', '? a', '?', ':', ' lead', 'trail ', 'a  b', '\\', ' ',
  '\t', 'line\n', '\n', ' \n', '\n\n x', '  \n  x\n', 'a\r\nb', '\r', '\0', '\u0001\u001f', '\u007f', '\u0085', '\u00a0', '\u2028\u2029', '\ufeff', '\ufeffa', '\ufffe\uffff', '😀', '\ud7ff\ue000',
  '/a/b.yaml', 'Keeps a todo list.', 'http://127.0.0.1:1/x', 'a - b', 'x'.repeat(256), 'x'.repeat(257), 'w '.repeat(2000), '"'.repeat(300),
]

/** Reads a JSON text as the bodies of requests are read. */
function json(text: string): unknown[] | Record<string, unknown> {
  return new JsonDocument(text).value as unknown[]
}

describe('YAML that is written (G40)', () => {
  it.each([
    ['lists', '[[],{},[[]],[[[],{}],[]],[[1,[2,[3]]]],[null],[{"a":null,"b":[null]}],[{"a":1,"b":2},{"a":1}]]'],
    ['objects', '{"a":{"b":[1,[],{}]},"c":[{"d":null},{"e":[{}]}],"f":{}}'],
    ['the order of keys', '{"b":1,"10":2,"a":3,"9":4,"":5}'],
    ['keys of objects', '{"__proto__":{"__proto__":1},"constructor":2,"toString":[3]}'],
    ['numbers', '[0,-1,9007199254740993,-9223372036854775809,123456789012345678901234567890,0.1,1.0,-0.25,1E+2,1e-7,1e21,1E400,0.1000000000000000055,-0.0]'],
    ['words', '[true,false,null]'],
    ['an empty object', '{}'],
    ['texts', JSON.stringify(odd)],
    ['texts in an object', JSON.stringify({ a: odd, b: [odd] })],
    ['keys', JSON.stringify(Object.fromEntries(odd.map((key, index) => [key, index])))],
    ['keys of objects in lists', JSON.stringify([Object.fromEntries(odd.map((key) => [key, { [key]: [key] }]))])],
    ['deep lists', `${'['.repeat(500)}${']'.repeat(500)}`],
    ['deep objects', `${'{"a":'.repeat(499)}{}${'}'.repeat(499)}`],
    ['deep objects with long keys', `${`{"${'k'.repeat(300)}":`.repeat(50)}1${'}'.repeat(50)}`],
  ])('keeps %s', (_, text) => {
    for (const maxBytes of [large, 1]) {
      const yaml = renderYaml(json(text), maxBytes)
      expect(stringifyJson(parseYaml(yaml))).toBe(stringifyJson(json(text)))
      expect(yaml).toMatch(/[^\n]\n$/)
    }
  })

  it('has one line for each key and element', () => {
    const value = { GOOSE_MODEL: 'gpt-4o', extensions: { x: { enabled: true, args: ['-x', 'a b'], envs: {} } }, list: [[1, 2], { a: null, b: [0.5] }] }
    expect(renderYaml(value, large)).toBe(
      'GOOSE_MODEL: gpt-4o\nextensions:\n  x:\n    enabled: true\n    args:\n      - "-x"\n      - a b\n    envs: {}\n' +
        'list:\n  - - 1\n    - 2\n  - a: null\n    b:\n      - 0.5\n',
    )
    expect(renderYaml({}, large)).toBe('{}\n')
  })

  it.each(words)('quotes %j, which readers of YAML 1.1 take for something else', (word) => {
    expect(renderYaml({ [word]: word }, large)).toBe(`"${word}": "${word}"\n`)
    expect(parse(renderYaml({ [word]: word }, large), { version: '1.1' })).toEqual({ [word]: word })
  })

  it('has no character that YAML does not allow', () => {
    for (const maxBytes of [large, 1]) {
      expect(renderYaml({ '\u007f\u0085\u2028': '\0\u001f\u009f\u2029\ufeff\ufffe\uffff😀' }, maxBytes)).toMatch(/^[\n\u0020-\u007eé😀]*$/u)
    }
  })

  it('has `?` before a key that is too long for a line', () => {
    const key = 'k'.repeat(2000)
    expect(renderYaml({ a: [{ [key]: { [key]: 1 } }] }, large)).toBe(`a:\n  - ? "${key}"\n    :\n      ? "${key}"\n      : 1\n`)
  })

  it('has no line breaks if these would make it too large', () => {
    const value = { a: { b: [1, 2, 'x'] } }
    const lines = renderYaml(value, large)
    expect(renderYaml(value, lines.length)).toBe(lines)
    expect(renderYaml(value, lines.length - 1)).toBe('{"a":{"b":[1,2,"x"]}}\n')
  })

  it('of too many levels is refused, and takes no time', () => {
    for (const [open, close] of [['[', ']'], ['{"a":', '}']] as const) {
      const text = `${open.repeat(9000)}1${close.repeat(9000)}`
      expect(() => renderYaml(json(text), large)).toThrow('too many levels')
    }
    const wide = `${'['.repeat(400)}${'1,'.repeat(300_000)}1${']'.repeat(400)}`
    expect(renderYaml(json(wide), large)).toBe(`${wide}\n`)
  })
})
