import { TemplateError } from './template-error.ts'

type Look = (size: number) => void

/** A filter of templates, and how many arguments it takes. */
interface Filter {
  args: number
  /** Calls `look` with the size of a result that is much larger than its inputs (G22). */
  apply: (look: Look, value: unknown, ...args: unknown[]) => unknown
}

/** The filters of templates, by name (G20). `default` is part of the expression parser, because it accepts undefined variables. */
export const filters: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ['upper', ofText((value) => value.toUpperCase())],
  ['lower', ofText((value) => value.toLowerCase())],
  ['trim', ofText((value) => value.trim())],
  // Lower-cases everything first: the lower case of Σ depends on the letters before it (G34).
  ['title', ofText((value) => value.toLowerCase().replace(/(?<![\p{L}\p{M}\p{Nd}])\p{L}/gu, (letter) => letter.toUpperCase()))],
  ['capitalize', ofText((value) => value.toLowerCase().replace(/^./su, (first) => first.toUpperCase()))],
  ['replace', { args: 2, apply: (look, value, from, to) => replaced(look, text(value), text(from), text(to)) }],
  ['split', { args: 1, apply: (look, value, separator) => pieces(look, text(value), text(separator)) }],
  ['length', { args: 0, apply: (_, value) => length(value) }],
  ['join', { args: 1, apply: (look, value, separator) => joined(look, list(value).map(text), text(separator)) }],
])

function ofText(change: (value: string, ...args: string[]) => unknown, args = 0): Filter {
  return { args, apply: (_, value, ...given) => change(text(value), ...given.map(text)) }
}

function text(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean') throw new TemplateError('a text is missing')
  return String(value)
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new TemplateError('a list is missing')
  return value as unknown[] // the items of an array have no known type
}

/** The length of a text in code points, or of a list in items. */
function length(value: unknown): number {
  return typeof value === 'string' ? value.length - (value.match(/[\uD800-\uDBFF]/g)?.length ?? 0) : list(value).length
}

/** Replaces every occurrence of `from`. An empty `from` matches around each character. */
function replaced(look: Look, value: string, from: string, to: string): string {
  return joined(look, from === '' ? ['', ...Array.from(value), ''] : value.split(from), to)
}

function joined(look: Look, parts: readonly string[], separator: string): string {
  look(Math.max(parts.length - 1, 0) * Buffer.byteLength(separator))
  return parts.join(separator)
}

/** Splits a text. An empty separator splits it into code points. Each item counts, because it takes memory beyond its text. */
function pieces(look: Look, value: string, separator: string): string[] {
  look(15 * (separator === '' ? length(value) : value.split(separator).length))
  return separator === '' ? Array.from(value) : value.split(separator)
}
