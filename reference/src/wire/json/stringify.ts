import { JsonNumber } from './number.ts'
import { TimeSlices } from './time-slices.ts'

/**
 * Renders a value from JSON, or one built from plain objects, as JSON text (CT 3.1): with minimal escapes, unpaired surrogates as
 * `\udXXX`, keys in insertion order, no undefined members, and numbers as they arrived.
 *
 * JSON.stringify does most of this, but it cannot write a bigint or the digits of a JsonNumber. It is also recursive: a value
 * with a few thousand levels, which JSON.parse accepts, overflows the stack. Such values are rendered with an explicit stack.
 */
export function stringifyJson(value: unknown): string {
  return render(value, '')
}

/** The same, with the line breaks and the indentation of JSON.stringify for two blanks. */
export function prettyJson(value: unknown): string {
  return render(value, '  ')
}

/** The JSON text of a value if it has at most this many bytes. A large value costs little work. */
export function stringifyUpTo(value: unknown, maxBytes: number): string | undefined {
  let [text, bytes] = ['', 0]
  for (const token of tokensOf(value, '')) {
    bytes += Buffer.byteLength(token)
    if (bytes > maxBytes) return undefined
    text += token
  }
  return text
}

/** Renders a value that may be large, in pieces and in time slices. Each piece contains complete characters. */
export async function jsonBytes(value: unknown): Promise<Uint8Array[]> {
  return encoded(tokensOf(value, ''))
}

/** From this size in bytes on, a text may consist of too many blanks. */
const largePretty = 1024 * 1024

/** The same with the blanks of prettyJson, unless most of a large text would be blanks (G36). */
export async function prettyBytes(value: unknown): Promise<Uint8Array[]> {
  const compact = await jsonBytes(value)
  const most = Math.max(largePretty, 4 * sizeOf(compact))
  const pretty = await encoded(tokensOf(value, '  '), most)
  return sizeOf(pretty) > most ? compact : pretty
}

/** Renders a text in pieces as a JSON string. */
export async function quotedBytes(pieces: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const slices = new TimeSlices()
  const quoted: Uint8Array[] = []
  for (const piece of pieces) {
    quoted.push(Buffer.from(JSON.stringify(Buffer.from(piece).toString()).slice(1, -1)))
    await slices.yieldIfDue()
  }
  return [Buffer.from('"'), ...quoted, Buffer.from('"')]
}

export function sizeOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0)
}

/** How many characters of a text are handled at a time. */
const pieceLength = 64 * 1024

/** Encodes a text. If it has more than `most` bytes, stops and returns the pieces so far. */
async function encoded(tokens: Iterable<string>, most = Infinity): Promise<Uint8Array[]> {
  const slices = new TimeSlices()
  const pieces: Uint8Array[] = []
  let [text, bytes] = ['', 0]
  for (const token of tokens) {
    text += token
    if (text.length < pieceLength) continue
    const piece = Buffer.from(text)
    pieces.push(piece)
    bytes += piece.length
    text = ''
    if (bytes > most) break
    await slices.yieldIfDue()
  }
  pieces.push(Buffer.from(text))
  return pieces
}

function render(value: unknown, indent: '' | '  '): string {
  const before = JsonNumber.rounded
  try {
    const text = JSON.stringify(value, null, indent)
    if (JsonNumber.rounded === before) return text
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error
  }
  return [...tokensOf(value, indent)].join('')
}

/** An array or object that is being written: its remaining members, and its closing text. */
interface Open {
  members: Iterator<[key: string | null, value: unknown]>
  close: ']' | '}'
  first: boolean
}

/** The text of a value, in pieces of complete characters. */
function* tokensOf(root: unknown, indent: string): Generator<string> {
  const stack: Open[] = []
  const colon = indent === '' ? ':' : ': '
  const lineBreak = (): string => (indent === '' ? '' : `\n${indent.repeat(stack.length)}`)

  const tokens = function* (value: unknown): Generator<string> {
    if (typeof value === 'string') {
      yield* stringTokens(value)
    } else if (typeof value === 'bigint' || value instanceof JsonNumber) {
      yield String(value)
    } else if (typeof value !== 'object' || value === null) {
      yield JSON.stringify(value)
    } else if (Array.isArray(value)) {
      yield '['
      stack.push({ members: elements(value), close: ']', first: true })
    } else {
      yield '{'
      stack.push({ members: properties(value), close: '}', first: true })
    }
  }

  yield* tokens(root)
  for (let open = stack.at(-1); open !== undefined; open = stack.at(-1)) {
    const next = open.members.next()
    if (next.done === true) {
      stack.pop()
      yield `${open.first ? '' : lineBreak()}${open.close}`
      continue
    }
    const [key, value] = next.value
    yield `${open.first ? '' : ','}${lineBreak()}${key === null ? '' : `${JSON.stringify(key)}${colon}`}`
    open.first = false
    yield* tokens(value)
  }
}

/** A JSON string. A long one is produced in parts. */
function* stringTokens(value: string): Generator<string> {
  if (value.length <= pieceLength) {
    yield JSON.stringify(value)
    return
  }
  yield '"'
  for (let at = 0; at < value.length; ) {
    const end = at + pieceLength + (isHighSurrogate(value.charCodeAt(at + pieceLength - 1)) ? 1 : 0)
    yield JSON.stringify(value.slice(at, end)).slice(1, -1)
    at = end
  }
  yield '"'
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}

function* elements(array: unknown[]): Generator<[null, unknown]> {
  for (const value of array) yield [null, value ?? null]
}

function* properties(object: object): Generator<[string, unknown]> {
  for (const [key, value] of Object.entries(object)) {
    if (value !== undefined) yield [key, value]
  }
}
