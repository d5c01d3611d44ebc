/*
 * White space is what Unicode calls White_Space (G27). JavaScript's own idea of it has U+FEFF as well, and lacks U+0085.
 */

const space = /\p{White_Space}/u

/** Without the white space at its ends. */
export function trimmed(text: string): string {
  let start = 0
  while (start < text.length && space.test(text.charAt(start))) start++
  return trimmedEnd(text.slice(start))
}

/** Without the white space at its end. It looks at no other: an expression would, as often as there is some. */
export function trimmedEnd(text: string): string {
  let end = text.length
  while (end > 0 && space.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

export function isBlank(text: string): boolean {
  return trimmedEnd(text) === ''
}

/** On one line: white space becomes single blanks, and goes at both ends. */
export function squeezed(text: string): string {
  return wordsOf(text).join(' ')
}

/** The words of a text: what lies between its white space. */
export function wordsOf(text: string): string[] {
  return text.split(/\p{White_Space}+/u).filter((word) => word !== '')
}
