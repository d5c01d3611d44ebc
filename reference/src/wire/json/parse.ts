/**
 * How deeply arrays and objects may be nested (S27). The engine's own parser has no limit, and 50 MiB of `[` would cost it
 * gigabytes. No JSON Schema or tool input comes close to this limit.
 */
export const maxDepth = 9000

/** A text is not JSON, or is JSON that is nested too deeply. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
}

/** A body has too many values (S51). */
export class TooManyValuesError extends JsonSyntaxError {
  /** The length of the counted member, if it is an array. */
  readonly elements: number | undefined

  constructor(elements?: number) {
    super('too many values')
    this.elements = elements
  }
}

const decoder = new TextDecoder('utf-8')

/** The text without its byte order mark; invalid UTF-8 becomes U+FFFD. */
function decodeLeniently(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/**
 * Parses one JSON text (CT 3.4 step 4). A byte order mark is skipped, invalid UTF-8 becomes U+FFFD, and of repeated keys the last
 * one counts. Throws a JsonSyntaxError if the text is empty, malformed, or followed by anything but blanks.
 */
export function parseJson(bytes: Uint8Array): unknown {
  return parseText(decodeLeniently(bytes))
}

export function parseText(text: string): unknown {
  if (isTooDeep(text)) throw new JsonSyntaxError(`nested more than ${maxDepth} levels deep`)
  try {
    return JSON.parse(text) as unknown // declared as `any`
  } catch (cause) {
    throw new JsonSyntaxError('malformed JSON', { cause })
  }
}

/** Counts brackets outside strings. It does not have to check the syntax, because JSON.parse does. */
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

/** The index of the quotation mark that closes the string beginning at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(index - 1 - backslashes) === 0x5c) backslashes++
  return backslashes % 2 === 1
}
