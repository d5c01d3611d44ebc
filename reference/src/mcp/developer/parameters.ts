import { invalidCall } from './call-error.ts'

/** Reads one argument; undefined when it is of another type. */
type Reader<T> = (value: unknown) => T | undefined

/** What a call may have: its names in the order of the schema, and how each is read. */
export type Readers<T> = { readonly [K in keyof T]: Reader<T[K]> }

export const asText: Reader<string> = (value) => (typeof value === 'string' ? value : undefined)

export const asInteger: Reader<number> = (value) => (typeof value === 'number' && Number.isInteger(value) ? value : undefined)

export const asFlag: Reader<boolean> = (value) => (typeof value === 'boolean' ? value : undefined)

/** The first and the last line of a range. */
export const asRange: Reader<readonly [number, number]> = (value) => {
  const [first, last, ...more] = Array.isArray(value) ? value.map(asInteger) : []
  return first === undefined || last === undefined || more.length > 0 ? undefined : [first, last]
}

/**
 * The arguments of a call, of which null is as good as nothing. Throws a CallError for the first that is of a wrong type, or
 * missing and required (X15).
 */
export function parametersOf<T extends object, R extends keyof T & string>(
  given: Readonly<Record<string, unknown>>,
  readers: Readers<T>,
  required: readonly R[],
): Pick<T, R> & Partial<T> {
  const read = Object.entries<Reader<unknown>>(readers).map(([name, reader]) => {
    const value = given[name] ?? undefined
    if (value === undefined && required.some((one) => one === name)) throw unreadable(`missing field \`${name}\``)
    const parameter = value === undefined ? undefined : reader(value)
    if (value !== undefined && parameter === undefined) throw unreadable(`invalid type of \`${name}\``)
    return [name, parameter]
  })
  return Object.fromEntries(read) as Pick<T, R> & Partial<T> // each was read by its own reader
}

function unreadable(reason: string): Error {
  return invalidCall(`failed to deserialize parameters: ${reason}`)
}
