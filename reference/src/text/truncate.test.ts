import { describe, expect, it } from 'vitest'
import { truncate, quoted } from './truncate.ts'

describe('a text in a message (S43)', () => {
  it.each([
    ['', ''],
    ['a'.repeat(100), 'a'.repeat(100)],
    ['a'.repeat(101), `${'a'.repeat(100)}...`],
    [`${'a'.repeat(99)}é`, `${'a'.repeat(99)}...`],
    [`${'a'.repeat(98)}é`, `${'a'.repeat(98)}é`],
    [`${'a'.repeat(97)}😀`, `${'a'.repeat(97)}...`],
    [`${'a'.repeat(96)}😀b`, `${'a'.repeat(96)}😀...`],
    [`${'a'.repeat(97)}\ufffdb`, `${'a'.repeat(97)}\ufffd...`],
  ])('%s is %s', (text, shown) => {
    expect(quoted(text)).toBe(shown)
  })

  it('can have another limit', () => {
    expect(truncate('abcd', 3)).toBe('abc...')
  })
})
