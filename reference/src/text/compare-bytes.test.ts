import { expect, it } from 'vitest'
import { compareBytes } from './compare-bytes.ts'

const texts = [
  '', '\0', 'a', 'ab', 'b', 'B', 'é', 'a\u07ff', 'a\u0800', 'a\ud7ff', 'a\ue000', 'a\uffff', 'a\u{10000}', 'a\u{10001}b', 'a\u{10001}', 'a\u{10ffff}', '\u{1f600}', '\uff41',
]

it('texts are compared by their bytes in UTF-8', () => {
  for (const a of texts) {
    for (const b of texts) expect(Math.sign(compareBytes(a, b)), `${a} and ${b}`).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
  }
})
