import type { InvalidTypeIssue, IssuePath, ValidationIssue } from '#contract'
import { ValidationError } from '../http/errors.ts'
import { isObject } from '../json/is-object.ts'

/** Finds what is wrong with a value, which is at this path of the body. `T` is what a value without issues is. */
export interface Schema<T> {
  (value: unknown, path: IssuePath): ValidationIssue[]
  /** Never there; it makes a Schema<string> something else than a Schema<number>. */
  readonly type?: T
}

/** The body, now known to be a `T`. Throws a ValidationError with all issues, in the order of CT 3.5. */
export function validate<T>(schema: Schema<T>, body: unknown): T {
  const [first, ...rest] = schema(body, [])
  if (first !== undefined) throw new ValidationError(body, [first, ...rest])
  return body as T // the schema found nothing wrong with it
}

export const string: Schema<string> = (value, path) =>
  typeof value === 'string' ? [] : [wrongType('string', value, path)]

/** An object whose keys are free, as `parameters` and `metadata`. */
export const record: Schema<Record<string, unknown>> = (value, path) =>
  isObject(value) ? [] : [wrongType('record', value, path)]

/**
 * May be missing; `null` is not missing. The type does not say so: JSON has no undefined, so a key without a value is a
 * key that is not there, which is what `?` in the type of an object means.
 */
export function optional<T>(schema: Schema<T>): Schema<T> {
  return (value, path) => (value === undefined ? [] : schema(value, path))
}

export function array<T>(element: Schema<T>): Schema<T[]> {
  return (value, path) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => element(item, [...path, index]))
      : [wrongType('array', value, path)]
}

/** An object with these fields, checked in this order. Other keys are ignored. */
export function object<T extends object>(fields: { [K in keyof T]-?: Schema<NonNullable<T[K]>> }): Schema<T> {
  return (value, path) =>
    isObject(value)
      ? Object.entries<Schema<unknown>>(fields).flatMap(([key, schema]) =>
          schema(value[key], [...path, key]),
        )
      : [wrongType('object', value, path)]
}

/** One of several objects, told apart by the key `status`. */
export function byStatus<T>(variants: Map<unknown, Schema<T>>): Schema<T> {
  return (value, path) => {
    if (!isObject(value)) {
      // The keys are in another order than in `wrongType` (CT 3.5).
      const { expected, code, message } = wrongType('object', value, path)
      return [{ code, expected, path, message }]
    }
    const variant = variants.get(value.status)
    return variant === undefined ? [unknownVariant([...path, 'status'])] : variant(value, path)
  }
}

function wrongType(
  expected: InvalidTypeIssue['expected'],
  value: unknown,
  path: IssuePath,
): InvalidTypeIssue {
  const message = `Invalid input: expected ${expected}, received ${typeName(value)}`
  return { expected, code: 'invalid_type', path, message }
}

function unknownVariant(path: IssuePath): ValidationIssue {
  return {
    code: 'invalid_union',
    errors: [],
    note: 'No matching discriminator',
    discriminator: 'status',
    path,
    message: 'Invalid input',
  }
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
