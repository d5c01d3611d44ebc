/** Compares texts by their bytes in UTF-8. */
export function compareBytes(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  for (let at = 0; at < shorter; at++) {
    const [ofA, ofB] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (ofA !== ofB) return rank(ofA) - rank(ofB)
  }
  return a.length - b.length
}

/** Surrogates, which stand for the characters above U+FFFF, come after U+E000 to U+FFFF. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
