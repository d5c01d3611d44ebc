/** The pairs of a variable, and how many of its entries cannot be read. */
interface Pairs {
  pairs: Record<string, string>
  unreadable: number
}

/** A field name and a field value that can be sent (RFC 9110 §5.1, §5.5). */
const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const fieldValue = /^[^\0-\x08\x0a-\x1f\x7f]*$/

/** Reads `name=value` pairs, separated by commas, with percent-encoded values. Empty entries are no pairs. */
function readPairs(text: string, isValid: (name: string, value: string) => boolean): Pairs {
  const pairs: Record<string, string> = {}
  let unreadable = 0
  for (const entry of text.split(',').map((part) => part.trim()).filter((part) => part !== '')) {
    const at = entry.indexOf('=')
    const name = entry.slice(0, Math.max(at, 0)).trim()
    const value = decoded(entry.slice(at + 1).trim())
    if (name !== '' && value !== undefined && isValid(name, value)) pairs[name] = value
    else unreadable++
  }
  return { pairs, unreadable }
}

/** Undefined if an escape is not one of UTF-8. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Header fields, in the form that node:http sends: one character per byte (T5). */
export function readHeaders(text: string): Pairs {
  const { pairs, unreadable } = readPairs(text, (name, value) => fieldName.test(name) && fieldValue.test(value))
  const bytes = Object.entries(pairs).map(([name, value]) => [name, Buffer.from(value).toString('latin1')])
  return { pairs: Object.fromEntries(bytes) as Record<string, string>, unreadable }
}

/** The attributes of a resource; undefined if one of the pairs cannot be read (T6). A `=` in a value must be percent-encoded. */
export function readAttributes(text: string): Record<string, string> | undefined {
  const raw = text.split(',').map((entry) => entry.slice(entry.indexOf('=') + 1))
  const { pairs, unreadable } = readPairs(text, () => true)
  return unreadable > 0 || raw.some((value) => value.includes('=')) ? undefined : pairs
}
