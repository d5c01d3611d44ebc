import { describe, expect, it } from 'vitest'
import { objectOf, withMember } from './ordered.ts'
import { stringifyJson } from './stringify.ts'

const [b, ten, two] = [['b', 1], ['10', 2], ['2', 3]] as const

describe('objectOf', () => {
  it('makes a plain object if that keeps the order', () => {
    const plain = objectOf([two, ten, b])
    expect(JSON.stringify(plain)).toBe('{"2":3,"10":2,"b":1}')
    expect(Object.keys({ ...plain })).toEqual(['2', '10', 'b'])
  })

  it('lists its keys in order, for every way to list them', () => {
    const object = objectOf([b, ten, two])
    const order = ['b', '10', '2']
    expect(Object.keys(object)).toEqual(order)
    expect(Object.entries(object)).toEqual([b, ten, two])
    expect(Object.values(object)).toEqual([1, 2, 3])
    expect(Reflect.ownKeys(object)).toEqual(order)
    const inLoop: string[] = []
    for (const key in object) inLoop.push(key)
    expect(inLoop).toEqual(order)
    expect(JSON.stringify([object])).toBe('[{"b":1,"10":2,"2":3}]')
    expect([Object.hasOwn(object, '10'), '10' in object, Object.hasOwn(object, '1'), object['10']]).toEqual([true, true, false, 2])
  })

  it('stays in order when it is changed', () => {
    const object = objectOf([b, ten, two])
    object['10'] = 'new'
    object['1'] = 4
    Reflect.deleteProperty(object, 'b')
    object.b = 5
    Object.defineProperty(object, '0', { value: 6, enumerable: true, configurable: true, writable: true })
    expect(stringifyJson(object)).toBe('{"10":"new","2":3,"1":4,"b":5,"0":6}')
  })

  it('has a key __proto__ like any other', () => {
    const object = objectOf([b, ['__proto__', { x: 1 }], two])
    expect(stringifyJson(object)).toBe('{"b":1,"__proto__":{"x":1},"2":3}')
    expect(object.x).toBeUndefined()
  })
})

describe('withMember', () => {
  it('copies, and puts a new member last and a changed one in its place', () => {
    const object = objectOf([b, ten])
    expect(stringifyJson(withMember(object, '2', 3))).toBe('{"b":1,"10":2,"2":3}')
    expect(stringifyJson(withMember(object, 'b', 3))).toBe('{"b":3,"10":2}')
    expect(stringifyJson(object)).toBe('{"b":1,"10":2}')
  })
})
