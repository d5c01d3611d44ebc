/**
 * Renders a value that came from JSON, or was built from plain objects, as JSON text (CT 3.1): minimal escapes, lone
 * surrogates as `\udXXX`, keys in insertion order, members that are undefined left out.
 *
 * JSON.stringify does all that, but it recurses: a value a few thousand levels deep overflows the stack, although
 * JSON.parse has accepted it. Such values are walked with a stack of our own.
 */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return stringifyDeep(value)
  }
}

/** An array or object that is being written: the members still to come, and what closes it. */
interface Open {
  members: Iterator<[key: string | null, value: unknown]>
  close: ']' | '}'
  first: boolean
}

function stringifyDeep(root: unknown): string {
  const parts: string[] = []
  const stack: Open[] = []

  const write = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) {
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
  for (let open = stack.at(-1); open !== undefined; open = stack.at(-1)) {
    const next = open.members.next()
    if (next.done === true) {
      parts.push(open.close)
      stack.pop()
      continue
    }
    const [key, value] = next.value
    if (!open.first) parts.push(',')
    open.first = false
    if (key !== null) parts.push(JSON.stringify(key), ':')
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
