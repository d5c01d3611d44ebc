import { JsonNumber } from './number.ts'

/**
 * Whether a JSON value is an object, and neither an array, nor null, nor a number. Looking up a key of ours in it is safe: a parsed
 * object owns all its keys, `__proto__` included, and none of ours is a name on Object.prototype.
 */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
}
