import { describe, expect, it } from 'vitest'
import { isBlank, squeezed, trimmed, trimmedEnd, wordsOf } from './white-space.ts'

const all = '\t\n\v\f\r \u0085\u00A0\u1680\u2000\u200A\u2028\u2029\u202F\u205F\u3000'
const none = '\uFEFF\u200B\u180E\u001C'

describe('white space (G27)', () => {
  it('is what Unicode defines', () => {
    expect(trimmed(`${all}a${all}b${all}`)).toBe(`a${all}b`)
    expect(trimmedEnd(`${all}a${all}`)).toBe(`${all}a`)
    expect(squeezed(`${all}a${all}b${all}`)).toBe('a b')
    expect(wordsOf(`${all}/a${all}b`)).toEqual(['/a', 'b'])
    expect([isBlank(all), isBlank(''), isBlank(`${all}a`)]).toEqual([true, true, false])
  })

  it.each(Array.from(none))('is not %j', (character) => {
    expect(trimmed(character)).toBe(character)
    expect(wordsOf(`a${character}b`)).toEqual([`a${character}b`])
    expect(isBlank(character)).toBe(false)
  })

  it('is removed from a long text in linear time', () => {
    const text = `${' '.repeat(1_000_000)}a${' '.repeat(1_000_000)}b`
    expect(trimmedEnd(text)).toBe(text)
  })
})
