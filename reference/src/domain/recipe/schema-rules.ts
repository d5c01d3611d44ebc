import { isObject } from '../../wire/json/is-object.ts'

/*
 * What keeps a schema from being valid beside the rules of its draft (G37).
 */

/** The keywords whose values are schemas by name, and those that are schemas or lists of them. Others hold none (JSON Schema 2020-12, core §10). */
const maps = new Set(['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'])
const applied = new Set(
  ['additionalItems', 'additionalProperties', 'allOf', 'anyOf', 'contains', 'contentSchema', 'else', 'if', 'items', 'not', 'oneOf']
    .concat(['prefixItems', 'propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties']),
)

/** A schema and those inside it, as far as they are objects. */
export function* schemasIn(schema: unknown): Generator<Record<string, unknown>, undefined> {
  const open = [schema]
  while (open.length > 0) {
    const next = open.pop()
    if (Array.isArray(next)) for (const item of next) open.push(item)
    if (!isObject(next)) continue
    yield next
    for (const [key, member] of Object.entries(next)) {
      if (applied.has(key)) open.push(member)
      else if (maps.has(key) && isObject(member)) open.push(Object.values(member))
    }
  }
}

/** What is wrong with a schema itself, not with one inside it; undefined if nothing is. */
export function brokenRule({ pattern, patternProperties, $id }: Record<string, unknown>): string | undefined {
  const patterns = [pattern, ...(isObject(patternProperties) ? Object.keys(patternProperties) : [])]
  if (patterns.some((one) => typeof one === 'string' && repeatsTooOften(one))) return `a pattern repeats more than ${maxRepeats} times`
  return typeof $id === 'string' && /[\0-\x1f\x7f]|%(?![0-9a-f]{2})/i.test($id) ? '$id is no reference' : undefined
}

const maxRepeats = 1000

/** What a pattern consists of: escapes and classes, which may hold braces and parentheses, then counts, then single characters. */
const part = /\\[pPux]\{[^}]*\}|\\k<[^>]*>|\\.|\[(?:\\.|[^\]\\])*\]|\{(\d+)(,?)(\d*)\}|./gsu

/** Whether a count, or the product of counts inside one another, is above 1,000. */
function repeatsTooOften(pattern: string): boolean {
  /** The largest products so far in the groups that are open, and that of what was read last. */
  const open: number[] = []
  let largest = 1
  let last = 1
  for (const [text, low, comma, high] of pattern.matchAll(part)) {
    if (low !== undefined) {
      const count = high ? Number(high) : comma ? Math.max(Number(low), 1) : Number(low)
      last *= count
      if (Math.max(count, Number(low), last) > maxRepeats) return true
    } else if (text === '(') {
      open.push(largest)
      largest = last = 1
      continue
    } else if (text === ')') {
      last = largest
      largest = open.pop() ?? 1
    } else if (!'*+?'.includes(text)) last = 1
    largest = Math.max(largest, last)
  }
  return false
}
