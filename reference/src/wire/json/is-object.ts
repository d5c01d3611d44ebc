import { JsonNumber } from './number.ts'

/**
 * Whether a JSON value is an object, and not an array, null or a number. It is safe to look up known keys in it: a parsed object
 * owns all its keys, including `__proto__`, and no known key is a name on Object.prototype.
 */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
}
