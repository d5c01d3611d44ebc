import { isObject } from '../../wire/json/is-object.ts'

/*
 * The rules for a schema that go beyond those of its draft (G37).
 */

/**
 * Keywords whose values are objects of schemas, and keywords whose values are a schema or a list of schemas. No other keyword
 * contains a schema (JSON Schema 2020-12, core §10).
 */
const maps = new Set(['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'])
const applied = new Set(
  ['additionalItems', 'additionalProperties', 'allOf', 'anyOf', 'contains', 'contentSchema', 'else', 'if', 'items', 'not', 'oneOf']
    .concat(['prefixItems', 'propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties']),
)

/** A schema and the schemas inside it. Boolean schemas are skipped. */
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

/** The rule that a schema itself breaks, apart from the schemas inside it; undefined if it breaks none. */
export function brokenRule({ pattern, patternProperties, $id }: Record<string, unknown>): string | undefined {
  const patterns = [pattern, ...(isObject(patternProperties) ? Object.keys(patternProperties) : [])]
  if (patterns.some((one) => typeof one === 'string' && repeatsTooOften(one))) return `a pattern repeats more than ${maxRepeats} times`
  return typeof $id === 'string' && /[\0-\x1f\x7f]|%(?![0-9a-f]{2})/i.test($id) ? '$id is no reference' : undefined
}

const maxRepeats = 1000

/**
 * The tokens of a pattern. Escapes and classes come first, because they may contain braces and parentheses; then counts, then
 * single characters.
 */
const part = /\\[pPux]\{[^}]*\}|\\k<[^>]*>|\\.|\[(?:\\.|[^\]\\])*\]|\{(\d+)(,?)(\d*)\}|./gsu

/** Whether a count, or the product of nested counts, exceeds 1,000. */
function repeatsTooOften(pattern: string): boolean {
  /** The largest products so far in the open groups, and the product of the last token. */
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
