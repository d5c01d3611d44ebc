import { invalidCall } from './call-error.ts'

/** Reads one argument; undefined if it has a different type. */
type Reader<T> = (value: unknown) => T | undefined

/** The parameters of a call, in the order of the schema, with a reader for each. */
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
 * The arguments of a call, where null counts as missing. Throws a RpcError for the first argument that has a wrong type, or that
 * is required but missing (X15).
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
  return Object.fromEntries(read) as Pick<T, R> & Partial<T> // its own reader has read each of them
}

function unreadable(reason: string): Error {
  return invalidCall(`failed to deserialize parameters: ${reason}`)
}
