import { describe, expect, it } from 'vitest'
import { LastErrorLine } from './last-error-line.ts'

function lastOf(chunks: string[], ...secrets: string[]): string {
  const words = new LastErrorLine(secrets)
  for (const chunk of chunks) words.add(Buffer.from(chunk))
  return words.text()
}

describe("the last line of a process's errors (S48)", () => {
  it.each([
    [[], ''],
    [['one\ntwo\n'], 'two'],
    [['on', 'e\ntw', 'o'], 'two'],
    [['one\n', ' \n\r\n'], 'one'],
    [['one\r\n'], 'one'],
    [[`${'😀'.repeat(300)}\n`], '😀'.repeat(200)],
    [['x'.repeat(100_000), 'x'], 'x'.repeat(200)],
  ])('is the last line that is not blank: %#', (chunks, last) => {
    expect(lastOf(chunks)).toBe(last)
  })

  it('contains no secret, even one that is truncated or has several lines', () => {
    expect(lastOf([`key s3cret, s3cret2 ${'x'.repeat(170)}s3cr`, 'et-more'], 's3cret', 's3cret2', '')).toBe(`key ***, *** ${'x'.repeat(170)}***-more`)
    expect(lastOf(['at BBBB'], 'AAAA\nBBBB\n')).toBe('at ***')
  })
})
