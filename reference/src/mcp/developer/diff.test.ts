import { describe, expect, it } from 'vitest'
import { parseDiff, patched } from './diff.ts'

/** Applies a diff of one file to the text; undefined if it does not fit. */
function apply(text: string, hunks: string): string | undefined {
  const [file] = parseDiff(`--- a/f\n+++ b/f\n${hunks}`).files
  return patched(text, file?.hunks ?? [])
}

describe('a diff (X41)', () => {
  it.each<[what: string, text: string, hunks: string, after: string | undefined]>([
    ['at its line', 'a\nb\nc\n', '@@ -2 +2 @@\n-b\n+B\n', 'a\nB\nc\n'],
    ['at the nearest line', 'x\nb\nx\nx\nb\n', '@@ -4 +4 @@\n-b\n+B\n', 'x\nb\nx\nx\nB\n'],
    ['at the earlier of two', 'b\nx\nb\n', '@@ -2 +2 @@\n-b\n+B\n', 'B\nx\nb\n'],
    ['moved as the one before', 'x\nx\na\nb\nx\nx\nb\nx\nb\n', '@@ -1 +1 @@\n-a\n+A\n@@ -5 +5 @@\n-b\n+B\n', 'x\nx\nA\nb\nx\nx\nB\nx\nb\n'],
    ['behind the one before', 'b\nx\n', '@@ -1 +1 @@\n-b\n+B\n@@ -1 +1 @@\n-b\n+C\n', undefined],
    ['that only adds', 'a\nb', '@@ -1,0 +2 @@\n+x\n', 'a\nx\nb'],
    ['that adds to the end', 'a\nb', '@@ -2,0 +3 @@\n+x\n', 'a\nb\nx'],
    ['in an empty file', '', '@@ -0,0 +1 @@\n+x\n', 'x\n'],
    ['among line ends of both kinds', 'a\r\nb\nc\r\n', '@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n', 'a\r\nB\r\nc\r\n'],
    ['that fits nowhere', 'a\n', '@@ -1 +1 @@\n-b\n+B\n', undefined],
    ['that is longer than the file', 'a\n', '@@ -1,2 +1 @@\n-a\n-b\n+B\n', undefined],
  ])('has a hunk %s', (_, text, hunks, after) => {
    expect(apply(text, hunks)).toBe(after)
  })

  it('may change lines that look like headers', () => {
    expect(apply('-- x\n', '@@ -1 +1 @@\n--- x\n+++ y\n')).toBe('++ y\n')
  })
})
