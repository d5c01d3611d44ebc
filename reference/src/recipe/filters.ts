import { TemplateError } from './template-error.ts'

/** What changes a value in a template, and how many arguments it takes. */
export interface Filter {
  args: number
  apply: (value: unknown, ...args: unknown[]) => unknown
}

/** The filters of templates by name (G20); `default` is one of the expressions, because it looks at what is not defined. */
export const filters: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ['upper', ofText((value) => value.toUpperCase())],
  ['lower', ofText((value) => value.toLowerCase())],
  ['trim', ofText((value) => value.trim())],
  ['title', ofText((value) => value.toLowerCase().replace(/(?<![\p{L}\p{N}])\p{L}/gu, (letter) => letter.toUpperCase()))],
  ['capitalize', ofText((value) => value.replace(/^./su, (first) => first.toUpperCase()).replace(/(?<=^.).*/su, (rest) => rest.toLowerCase()))],
  ['replace', ofText((value, from = '', to = '') => value.replaceAll(from, to), 2)],
  ['split', ofText((value, separator = '') => value.split(separator), 1)],
  ['length', { args: 0, apply: length }],
  ['join', { args: 1, apply: (value, separator) => list(value).map(text).join(text(separator)) }],
])

function ofText(change: (value: string, ...args: string[]) => unknown, args = 0): Filter {
  return { args, apply: (value, ...given) => change(text(value), ...given.map(text)) }
}

function text(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'boolean') throw new TemplateError('a text is missing')
  return String(value)
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new TemplateError('a list is missing')
  return value as unknown[] // of an array no more is known
}

/** Characters of a text are code points. */
function length(value: unknown): number {
  return typeof value === 'string' ? Array.from(value).length : list(value).length
}
