import type { InvalidTypeIssue, IssuePath, PermissionResponse, ValidationIssue } from '#contract'
import { ValidationError } from '../../httpapi/errors.ts'
import { isObject } from '../../wire/json/is-object.ts'

/** Finds the issues of a value at this path of the body. `T` is the type of a value without issues. */
export interface Schema<T> {
  (value: unknown, path: IssuePath, issues: Issues): void
  /** Never set. It makes Schema<string> and Schema<number> different types. */
  readonly type?: T
}

/** The most issues in a response (S43). */
const maxIssues = 100

/** The first issues, and the number of all issues. */
class Issues {
  readonly #first: ValidationIssue[] = []
  #count = 0

  add(issue: (path: IssuePath) => ValidationIssue, path: IssuePath): void {
    if (++this.#count <= maxIssues) this.#first.push(issue([...path]))
  }

  list(): ValidationIssue[] {
    const more = this.#count - this.#first.length
    return more === 0 ? this.#first : [...this.#first, { code: 'too_many_issues', path: [], message: `${more} more issues` }]
  }
}

/** Returns the body as a `T`. Throws a ValidationError with its issues, in the order of CT 3.5. */
export function validate<T>(schema: Schema<T>, body: unknown): T {
  const issues = new Issues()
  schema(body, [], issues)
  const [first, ...rest] = issues.list()
  if (first !== undefined) throw new ValidationError(body, [first, ...rest])
  return body as T // the schema found no issue
}

export const string: Schema<string> = (value, path, issues) => {
  if (typeof value !== 'string') issues.add(wrongType('string', value), path)
}

/** An answer to a permission (CT 10.2). */
export const permissionResponse: Schema<PermissionResponse> = (value, path, issues) => {
  const values: PermissionResponse[] = ['once', 'always', 'reject']
  if (values.some((one) => one === value)) return
  issues.add((at) => ({ code: 'invalid_value', values, path: at, message: 'Invalid option: expected one of "once"|"always"|"reject"' }), path)
}

export const number: Schema<number> = (value, path, issues) => {
  if (typeof value !== 'number') issues.add(wrongType('number', value), path)
}

/** A number that is not negative (S77). */
export const positive: Schema<number> = (value, path, issues) => {
  number(value, path, issues)
  if (typeof value === 'number' && value < 0) issues.add(tooSmall(0), path)
}

/** A lease in seconds (S78). */
export const leaseSeconds: Schema<number> = (value, path, issues) => {
  if (typeof value !== 'number') issues.add(wrongType('number', value), path)
  else if (!Number.isSafeInteger(value)) issues.add(notInteger, path)
  else if (value < 1) issues.add(tooSmall(1), path)
  else if (value > 86_400) issues.add(tooBig, path)
}

function tooSmall(minimum: 0 | 1): (path: IssuePath) => ValidationIssue {
  return (path) => ({ origin: 'number', code: 'too_small', minimum, inclusive: true, path, message: `Too small: expected number to be >=${minimum}` })
}

function tooBig(path: IssuePath): ValidationIssue {
  return { origin: 'number', code: 'too_big', maximum: 86_400, inclusive: true, path, message: 'Too big: expected number to be <=86400' }
}

function notInteger(path: IssuePath): ValidationIssue {
  return { expected: 'int', format: 'safeint', code: 'invalid_type', path, message: 'Invalid input: expected int, received number' }
}

/** An object with any keys, such as `parameters` and `metadata`. */
export const record: Schema<Record<string, unknown>> = (value, path, issues) => {
  if (!isObject(value)) issues.add(wrongType('record', value), path)
}

/**
 * A member that may be missing, but not null. The type does not include undefined: JSON has none, so a member without a value is
 * a missing member, which `?` in an object type expresses.
 */
export function optional<T>(schema: Schema<T>): Schema<T> {
  return (value, path, issues) => {
    if (value !== undefined) schema(value, path, issues)
  }
}

export function array<T>(element: Schema<T>): Schema<T[]> {
  return (value, path, issues) => {
    if (!Array.isArray(value)) issues.add(wrongType('array', value), path)
    else for (const [index, item] of value.entries()) inside(element, item, path, index, issues)
  }
}

/** An object with these fields, checked in this order. Other keys are ignored. */
export function object<T extends object>(fields: { [K in keyof T]-?: Schema<NonNullable<T[K]>> }): Schema<T> {
  const entries = Object.entries<Schema<unknown>>(fields)
  return (value, path, issues) => {
    if (!isObject(value)) issues.add(wrongType('object', value), path)
    else for (const [key, schema] of entries) inside(schema, value[key], path, key, issues)
  }
}

/** Checks a member. All levels share one path array, because a body may have a million members. */
function inside(schema: Schema<unknown>, value: unknown, path: IssuePath, key: string | number, issues: Issues): void {
  path.push(key)
  schema(value, path, issues)
  path.pop()
}

/** One of several objects, distinguished by their member `status`. */
export function byStatus<T>(variants: Map<unknown, Schema<T>>): Schema<T> {
  return (value, path, issues) => {
    if (!isObject(value)) {
      // The order of the keys differs from that in `wrongType` (CT 3.5).
      issues.add((at) => {
        const { expected, code, message } = wrongType('object', value)(at)
        return { code, expected, path: at, message }
      }, path)
      return
    }
    const variant = variants.get(value.status)
    if (variant === undefined) issues.add(unknownVariant, [...path, 'status'])
    else variant(value, path, issues)
  }
}

function wrongType(expected: InvalidTypeIssue['expected'], value: unknown): (path: IssuePath) => InvalidTypeIssue {
  return (path) => ({ expected, code: 'invalid_type', path, message: `Invalid input: expected ${expected}, received ${typeName(value)}` })
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
