import { JsonNumber } from './number.ts'

/**
 * Renders a value that came from JSON, or was built from plain objects, as JSON text (CT 3.1): minimal escapes, lone
 * surrogates as `\udXXX`, keys in insertion order, members that are undefined left out, numbers as they came.
 *
 * JSON.stringify does nearly all that, but it cannot write a bigint or the digits of a JsonNumber, and it recurses: a value
 * a few thousand levels deep overflows the stack, although JSON.parse has accepted it. Such values are walked with a stack
 * of our own.
 */
export function stringifyJson(value: unknown): string {
  return render(value, '')
}

/** The same with the line breaks and indentation that JSON.stringify has for two blanks. */
export function prettyJson(value: unknown): string {
  return render(value, '  ')
}

/** The JSON text of a value if it has at most so many bytes. Without much work for a large one. */
export function stringifyUpTo(value: unknown, maxBytes: number): string | undefined {
  const text = renderByHand(value, '', maxBytes)
  return Buffer.byteLength(text) <= maxBytes ? text : undefined
}

function render(value: unknown, indent: '' | '  '): string {
  const before = JsonNumber.rounded
  try {
    const text = JSON.stringify(value, null, indent)
    if (JsonNumber.rounded === before) return text
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error
  }
  return renderByHand(value, indent)
}

/** An array or object that is being written: the members still to come, and what closes it. */
interface Open {
  members: Iterator<[key: string | null, value: unknown]>
  close: ']' | '}'
  first: boolean
}

/** Gives up, with the text as far as it has come, after so many pieces; each has a character at least. */
function renderByHand(root: unknown, indent: '' | '  ', maxPieces = Infinity): string {
  const parts: string[] = []
  const stack: Open[] = []
  const colon = indent === '' ? ':' : ': '
  const lineBreak = (): void => {
    if (indent !== '') parts.push('\n', indent.repeat(stack.length))
  }

  const write = (value: unknown): void => {
    if (typeof value === 'bigint' || value instanceof JsonNumber) {
      parts.push(String(value))
    } else if (typeof value !== 'object' || value === null) {
      parts.push(JSON.stringify(value))
    } else if (Array.isArray(value)) {
      parts.push('[')
      stack.push({ members: elements(value), close: ']', first: true })
    } else {
      parts.push('{')
      stack.push({ members: properties(value), close: '}', first: true })
    }
  }

  write(root)
  for (let open = stack.at(-1); open !== undefined && parts.length <= maxPieces; open = stack.at(-1)) {
    const next = open.members.next()
    if (next.done === true) {
      stack.pop()
      if (!open.first) lineBreak()
      parts.push(open.close)
      continue
    }
    const [key, value] = next.value
    if (!open.first) parts.push(',')
    open.first = false
    lineBreak()
    if (key !== null) parts.push(JSON.stringify(key), colon)
    write(value)
  }
  return parts.join('')
}

function* elements(array: unknown[]): Generator<[null, unknown]> {
  for (const value of array) yield [null, value ?? null]
}

function* properties(object: object): Generator<[string, unknown]> {
  for (const [key, value] of Object.entries(object)) {
    if (value !== undefined) yield [key, value]
  }
}
