import { describe, expect, it } from 'vitest'
import { wordless } from './wordless.ts'

describe('wordless', () => {
  it.each<[error: unknown, left: string]>([
    [new TypeError('a secret'), 'TypeError'],
    [new TypeError('a secret', { cause: Object.assign(new Error('another'), { code: 'ECONNREFUSED' }) }), 'TypeError, caused by Error ECONNREFUSED'],
    [Object.assign(new Error('a secret'), { code: -32000 }), 'Error -32000'],
    [Object.assign(new Error('a secret'), { code: 'a secret' }), 'Error'],
    [new Error('a secret', { cause: 'another' }), 'Error'],
    [new Error('a secret', { cause: wordless(new RangeError('another')) }), 'Error, caused by RangeError'],
    ['a secret', 'string'],
  ])('keeps names and codes of %s', (error, left) => {
    expect(wordless(error).message).toBe(left)
    expect(wordless(error).stack).not.toContain('secret')
    expect(wordless(error).cause).toBeUndefined()
  })

  it('ends where causes go in a circle', () => {
    const error = new Error('x')
    error.cause = error
    expect(wordless(error).message.split(', caused by ')).toHaveLength(10)
  })
})
