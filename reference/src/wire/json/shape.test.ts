import { describe, expect, it } from 'vitest'
import { JsonDocument } from './document.ts'
import { JsonNumber } from './number.ts'
import {
  ShapeError, anything, array, boolean, int32, int64, jsonObject, map, nullable, number, object, omittable, oneOf, readShape,
  string, tagged, withDefault, type Shape,
} from './shape.ts'

function read<T>(shape: Shape<T>, text: string): T {
  const document = new JsonDocument(text)
  return readShape(shape, document.value, document)
}

function refusal(shape: Shape<unknown>, text: string): string {
  try {
    read(shape, text)
  } catch (error) {
    if (error instanceof ShapeError) return error.message
    throw error
  }
  return 'accepted'
}

const item = object({
  id: int64,
  name: nullable(string),
  note: omittable(string),
  kind: withDefault(oneOf('a', 'b'), 'a'),
})

const animal = tagged<{ type: 'cat'; lives: number } | { type: 'dog' }, 'type'>('type', { cat: { lives: int32 }, dog: {} })

const long = 'ż'.repeat(60)

describe('a shape', () => {
  it('reads the members that it names, in its order, and ignores the others', () => {
    const text = '[{"more":{},"id":1},{"kind":"b","note":"x","name":"n","id":2,"more":1,"more":2},{"note":null,"name":null,"id":3}]'
    expect(JSON.stringify(read(array(item), text))).toBe(
      '[{"id":1,"name":null,"kind":"a"},{"id":2,"name":"n","note":"x","kind":"b"},{"id":3,"name":null,"kind":"a"}]',
    )
    expect(read(animal, '{"lives":9,"type":"cat"}')).toEqual({ type: 'cat', lives: 9 })
  })

  it.each<[shape: Shape<unknown>, text: string, reason: string]>([
    [item, '{}', 'missing field `id` at line 1 column 2'],
    [item, '[1]', 'invalid type: array, expected an object at line 1 column 3'],
    [item, '{"id":"1"}', 'id: invalid type: string, expected an integer at line 1 column 9'],
    [item, '{"id":null}', 'id: invalid type: null, expected an integer at line 1 column 10'],
    [item, '{"id":1.0}', 'id: invalid type: number, expected an integer at line 1 column 9'],
    [item, '{"id":1.5}', 'id: invalid type: number, expected an integer at line 1 column 9'],
    [item, '{"id":9223372036854775808}', 'id: invalid value: integer out of range at line 1 column 25'],
    [item, '{"id":1e3}', 'id: invalid type: number, expected an integer at line 1 column 9'],
    [item, '{"id":"x","name":1,"name":1}', 'duplicate field `name` at line 1 column 27'],
    [item, '{"id":1,"name":5}', 'name: invalid type: number, expected a string at line 1 column 16'],
    [item, '{"id":1,"kind":null}', 'kind: invalid type: null, expected a string at line 1 column 19'],
    [item, '{"id":1,"kind":"c"}', 'kind: unknown variant `c`, expected one of `a`, `b` at line 1 column 18'],
    [item, `{"id":1,"kind":"${long}"}`, `kind: unknown variant \`${long.slice(0, 50)}...\`, expected one of \`a\`, \`b\` at line 1 column 137`],
    [array(item), '[{"id":1},{}]', '[1]: missing field `id` at line 1 column 12'],
    [map(array(boolean)), '{"x":[true,0]}', 'x[1]: invalid type: number, expected a boolean at line 1 column 12'],
    [jsonObject, 'true', 'invalid type: boolean, expected an object at line 1 column 4'],
    [jsonObject, '1.0', 'invalid type: number, expected an object at line 1 column 3'],
    [int32, '2147483648', 'invalid value: integer out of range at line 1 column 10'],
    [number, '1e400', 'invalid value: number out of range at line 1 column 5'],
    [int32, '1e400', 'invalid type: number, expected an integer at line 1 column 5'],
    [array(string), '{}', 'invalid type: object, expected an array at line 1 column 2'],
    [animal, '{"lives":9}', 'missing field `type` at line 1 column 11'],
    [animal, '{"type":"toString"}', 'type: unknown variant `toString`, expected one of `cat`, `dog` at line 1 column 18'],
    [animal, '{"type":"x","type":"cat"}', 'duplicate field `type` at line 1 column 24'],
    [animal, '{"type":5}', 'type: invalid type: number, expected a string at line 1 column 9'],
  ])('%o rejects %s', (shape, text, reason) => {
    expect(refusal(shape, text)).toBe(reason)
  })

  it('reads numbers with their digits if it can', () => {
    expect(read(anything, '[1.0,9007199254740993]')).toEqual([new JsonNumber('1.0'), new JsonNumber('9007199254740993')])
    expect(read(int64, '9007199254740993')).toBe(9007199254740993n)
    expect(read(int64, '-9223372036854775808')).toBe(-(2n ** 63n))
    expect(read(int64, '9007199254740991')).toBe(9007199254740991)
    expect(read(number, '9007199254740993')).toBe(9007199254740992)
  })

  it('reads plain values without a source', () => {
    expect(() => readShape(array(item), [{}])).toThrow(new ShapeError('[0]: missing field `id`'))
  })
})
