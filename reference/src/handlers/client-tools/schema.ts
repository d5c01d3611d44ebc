import type { InvalidTypeIssue, IssuePath, ValidationIssue } from '#contract'
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

/** One of these texts. */
export function oneOf<T extends string>(...values: T[]): Schema<T> {
  const message = `Invalid option: expected one of ${values.map((value) => JSON.stringify(value)).join('|')}`
  return (value, path, issues) => {
    if (!values.some((one) => one === value)) issues.add((at) => undescribed({ code: 'invalid_value', values, path: at, message }), path)
  }
}

/** An issue that the contract does not describe. */
function undescribed(issue: { code: string; path: IssuePath; message: string } & Record<string, unknown>): ValidationIssue {
  return issue as unknown as ValidationIssue
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
