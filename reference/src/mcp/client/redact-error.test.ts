import { describe, expect, it } from 'vitest'
import { redactError } from './redact-error.ts'

describe('wordless', () => {
  it.each<[error: unknown, left: string]>([
    [new TypeError('a secret'), 'TypeError'],
    [new TypeError('a secret', { cause: Object.assign(new Error('another'), { code: 'ECONNREFUSED' }) }), 'TypeError, caused by Error ECONNREFUSED'],
    [Object.assign(new Error('a secret'), { code: -32000 }), 'Error -32000'],
    [Object.assign(new Error('a secret'), { code: 'a secret' }), 'Error'],
    [new Error('a secret', { cause: 'another' }), 'Error'],
    [new Error('a secret', { cause: redactError(new RangeError('another')) }), 'Error, caused by RangeError'],
    ['a secret', 'string'],
  ])('keeps names and codes of %s', (error, left) => {
    expect(redactError(error).message).toBe(left)
    expect(redactError(error).stack).not.toContain('secret')
    expect(redactError(error).cause).toBeUndefined()
  })

  it('ends when causes form a cycle', () => {
    const error = new Error('x')
    error.cause = error
    expect(redactError(error).message.split(', caused by ')).toHaveLength(10)
  })
})
