/*
 * White space is Unicode's White_Space (G27). JavaScript's own definition includes U+FEFF and lacks U+0085.
 */

const space = /\p{White_Space}/u

/** The text without white space at its ends. */
export function trimmed(text: string): string {
  let start = 0
  while (start < text.length && space.test(text.charAt(start))) start++
  return trimmedEnd(text.slice(start))
}

/** The text without white space at its end. A regular expression would try to match at all other white space too. */
export function trimmedEnd(text: string): string {
  let end = text.length
  while (end > 0 && space.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

export function isBlank(text: string): boolean {
  return trimmedEnd(text) === ''
}

/** The text on one line: white space is trimmed at both ends and becomes a single blank elsewhere. */
export function squeezed(text: string): string {
  return wordsOf(text).join(' ')
}

/** The words of a text, which white space separates. */
export function wordsOf(text: string): string[] {
  return text.split(/\p{White_Space}+/u).filter((word) => word !== '')
}
