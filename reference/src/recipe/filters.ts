import { TemplateError } from './template-error.ts'

type Filter = (value: unknown, ...args: unknown[]) => unknown

function ofText(change: (text: string, ...args: string[]) => unknown): Filter {
  return (value, ...args) => change(text(value), ...args.map(text))
}

/** The filters of templates by name. */
export const filters: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ['upper', ofText((value) => value.toUpperCase())],
  ['lower', ofText((value) => value.toLowerCase())],
  ['trim', ofText((value) => value.trim())],
  ['capitalize', ofText((value) => value.slice(0, 1).toUpperCase() + value.slice(1).toLowerCase())],
  ['title', ofText((value) => value.toLowerCase().replace(/(?<![\p{L}\p{N}])\p{L}/gu, (letter) => letter.toUpperCase()))],
  ['replace', ofText((value, from = '', to = '') => value.replaceAll(from, to))],
  ['split', ofText((value, separator = ' ') => value.split(separator))],
  ['length', length],
  ['count', length],
  ['first', (value) => elements(value).at(0) ?? null],
  ['last', (value) => elements(value).at(-1) ?? null],
  ['join', (value, separator = '') => elements(value).map(text).join(text(separator))],
])

function text(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') throw new TemplateError('a text is missing')
  return String(value)
}

function elements(value: unknown): unknown[] {
  if (typeof value === 'string') return Array.from(value) // by code point
  if (!Array.isArray(value)) throw new TemplateError('a list is missing')
  return value as unknown[] // of an array no more is known
}

function length(value: unknown): number {
  return elements(value).length
}
