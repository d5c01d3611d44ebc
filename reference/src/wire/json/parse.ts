/**
 * How deep arrays and objects may lie in one another (S27). The engine's own parser has no bound, and 50 MiB of `[`
 * would cost it gigabytes; no JSON Schema or tool input comes near this one.
 */
export const maxDepth = 9000

/** Says that a text is not JSON, or is JSON too deep to be handled. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
}

/** Says that a body has too many values (S51). */
export class TooManyValuesError extends JsonSyntaxError {
  /** Of the member that was to be counted, if it is an array. */
  readonly elements: number | undefined

  constructor(elements?: number) {
    super('too many values')
    this.elements = elements
  }
}

const decoder = new TextDecoder('utf-8')

/** A text without its byte order mark, in which invalid UTF-8 is U+FFFD. */
function decodeLeniently(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/**
 * Reads one JSON text (CT 3.4 step 4): a byte order mark is skipped, invalid UTF-8 becomes U+FFFD, and of repeated keys
 * the last wins. Throws a JsonSyntaxError when the text is empty, malformed, or followed by more than blanks.
 */
export function parseJson(bytes: Uint8Array): unknown {
  return parseText(decodeLeniently(bytes))
}

export function parseText(text: string): unknown {
  if (isTooDeep(text)) throw new JsonSyntaxError(`nested more than ${maxDepth} levels deep`)
  try {
    return JSON.parse(text) as unknown // `any` by its declaration
  } catch (cause) {
    throw new JsonSyntaxError('malformed JSON', { cause })
  }
}

/** Counts brackets outside strings. It need not care whether the rest is well formed: JSON.parse does. */
function isTooDeep(text: string): boolean {
  if (text.length <= maxDepth) return false
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x22: // "
        i = endOfString(text, i)
        break
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > maxDepth) return true
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth--
        break
    }
  }
  return false
}

/** The index of the quotation mark that closes the string opened at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(index - 1 - backslashes) === 0x5c) backslashes++
  return backslashes % 2 === 1
}
