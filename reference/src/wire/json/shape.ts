import { quoted } from '../../text/truncate.ts'
import { isObject } from './is-object.ts'
import { JsonNumber } from './number.ts'
import { objectOf } from './ordered.ts'

/*
 * Reads JSON into types, as strictly as the goose server (GA 2.5). A missing field, a wrong type, an unknown variant and a
 * repeated field are rejected. Unknown fields are ignored. Null is accepted only where a value may be missing. G4 defines the
 * message about the first mistake.
 */

type Key = string | number

/** The document from which a value comes. Plain values, such as those of a YAML file, have none. */
export interface Source {
  isRepeated: (container: object, key: Key) => boolean
  /** Without this, messages have no positions. */
  endOf?: (path: readonly Key[]) => string
}

/** JSON does not have the required shape. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError'
}

/** Reads the value at a place. Throws a ShapeError. */
export type Shape<T> = (place: Place) => T

/** The type that a shape reads. */
export type ReadBy<S extends Shape<unknown>> = ReturnType<S>

/** Reads a whole value. Throws a ShapeError. */
export function readShape<T>(shape: Shape<T>, value: unknown, source: Source | null = null): T {
  return shape(new Place(value, source, []))
}

/** A value in a JSON document, and its position. */
export class Place {
  readonly value: unknown
  readonly #source: Source | null
  readonly #path: readonly Key[]

  constructor(value: unknown, source: Source | null, path: readonly Key[]) {
    this.value = value
    this.#source = source
    this.#path = path
  }

  /** A member of the value. */
  inside(key: Key, value: unknown): Place {
    return new Place(value, this.#source, [...this.#path, key])
  }

  /** The same place with a different value. */
  with(value: unknown): Place {
    return new Place(value, this.#source, this.#path)
  }

  isRepeated(container: object, key: Key): boolean {
    return this.#source?.isRepeated(container, key) ?? false
  }

  wrongType(expected: string): ShapeError {
    return this.error(`invalid type: ${typeName(this.value)}, expected ${expected}`)
  }

  unknownVariant(name: string, known: readonly string[]): ShapeError {
    return this.error(`unknown variant \`${quoted(name)}\`, expected one of ${known.map((one) => `\`${one}\``).join(', ')}`)
  }

  /**
   * Makes an error such as ``messages[0].content: missing field `type` at line 1 column 30``. The position is the end of the
   * value, or of a field.
   */
  error(reason: string, field?: string): ShapeError {
    const path = this.#path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${quoted(key)}`)).join('')
    const where = path === '' ? '' : `${path.replace(/^\./, '')}: `
    const end = this.#source?.endOf?.(field === undefined ? this.#path : [...this.#path, field])
    return new ShapeError(`${where}${reason}${end === undefined ? '' : ` at ${end}`}`)
  }
}

/** A field of an object that may be missing, and its default. */
class OptionalField<T> {
  readonly shape: Shape<T>
  readonly mayBeNull: boolean
  /** Undefined means that the field is omitted. */
  readonly instead: T | undefined

  constructor(shape: Shape<T>, mayBeNull: boolean, instead: T | undefined) {
    this.shape = shape
    this.mayBeNull = mayBeNull
    this.instead = instead
  }
}

/** How to read a field. A Shape alone means that the field is required. */
export type Field<T> = Shape<T> | OptionalField<T>

/** A field that may be missing or null; both are read as null. */
export function nullable<T>(shape: Shape<T>): OptionalField<T | null> {
  return new OptionalField<T | null>(shape, true, null)
}

/** A field that may be missing or null; it is then omitted. */
export function omittable<T>(shape: Shape<T>): Field<T> {
  return new OptionalField(shape, true, undefined)
}

/** A field that may be missing, but not null (G6). */
export function withDefault<T>(shape: Shape<T>, instead: T): OptionalField<T> {
  return new OptionalField(shape, false, instead)
}

/** How to read each field of an object. */
export type Fields<T> = { [K in keyof T]-?: Field<Exclude<T[K], undefined>> }

/** An object with these fields, read and written in this order. */
export function object<T extends object>(fields: Fields<T>): Shape<T> {
  const entries = Object.entries<Field<unknown>>(fields)
  return (place) => {
    const given = jsonObject(place)
    refuseRepeated(place, given, entries.map(([name]) => name))
    const read: Record<string, unknown> = {}
    for (const [name, field] of entries) {
      const value = readField(place, given, name, field)
      if (value !== undefined) read[name] = value
    }
    return read as T // each field has been read by its own shape
  }
}

/** The fields of a request body in the contract. An optional field must have a default: `nullable` or `withDefault`. */
type BodyFields<Body> = { [K in keyof Body]-?: object extends Pick<Body, K> ? OptionalField<Exclude<Body[K], undefined>> : Shape<Body[K]> }

/**
 * A request body in the contract, with exactly its fields. The result may be narrower than the type in the contract, because
 * missing fields get their defaults.
 */
export function bodyOf<Body extends object>(): <F extends BodyFields<Body>>(
  fields: F & Record<Exclude<keyof F, keyof Body>, never>,
) => Shape<{ [K in keyof F]: F[K] extends Shape<infer T> | OptionalField<infer T> ? T : never }> {
  return (fields) => object(fields as never) // the types of the fields determine what is read
}

function refuseRepeated(place: Place, given: JsonObject, names: readonly string[]): void {
  const repeated = names.find((name) => place.isRepeated(given, name))
  if (repeated !== undefined) throw place.error(`duplicate field \`${repeated}\``, repeated)
}

function readField(place: Place, given: JsonObject, name: string, field: Field<unknown>): unknown {
  const there = Object.hasOwn(given, name)
  if (!(field instanceof OptionalField)) {
    if (!there) throw place.error(`missing field \`${name}\``)
    return field(place.inside(name, given[name]))
  }
  if (!there || (given[name] === null && field.mayBeNull)) return field.instead
  return field.shape(place.inside(name, given[name]))
}

/** The fields of each variant of an object, without the field with the variant's name. */
export type Variants<T, Tag extends keyof T> = {
  [Name in T[Tag] & string]: Fields<Omit<Extract<T, Readonly<Record<Tag, Name>>>, Tag>>
}

/** One of several objects, distinguished by the word in their first field. */
export function tagged<T extends object, Tag extends keyof T & string>(tag: Tag, variants: Variants<T, Tag>): Shape<T> {
  const names = Object.keys(variants)
  const shapes = new Map(Object.entries<object>(variants).map(([name, fields]) => [name, object<T>({ [tag]: oneOf(name), ...fields } as Fields<T>)]))
  return (place) => {
    const given = jsonObject(place)
    refuseRepeated(place, given, [tag])
    const found = readField(place, given, tag, oneOf(...names)) as string // oneOf reads a string
    const shape = shapes.get(found)
    if (shape === undefined) throw new Error(`${found} has no variant`)
    return shape(place)
  }
}

export const string: Shape<string> = (place) => {
  if (typeof place.value !== 'string') throw place.wrongType('a string')
  return place.value
}

export const notEmpty: Shape<string> = (place) => {
  const text = string(place)
  if (text === '') throw place.error('invalid value: empty string')
  return text
}

export const boolean: Shape<boolean> = (place) => {
  if (typeof place.value !== 'boolean') throw place.wrongType('a boolean')
  return place.value
}

/** Any number, as an IEEE double. */
export const number: Shape<number> = (place) => {
  const { value } = place
  if (typeof value !== 'number' && typeof value !== 'bigint' && !(value instanceof JsonNumber)) throw place.wrongType('a number')
  if (!Number.isFinite(Number(value))) throw place.error('invalid value: number out of range')
  return Number(value)
}

/** An integer of 64 bits. It is a bigint if a double would round it. */
export type Int64 = number | bigint

export const int64: Shape<Int64> = (place) => {
  const exact = exactInteger(place)
  if (BigInt.asIntN(64, exact) !== exact) throw outOfRange(place)
  const value = Number(exact)
  return Number.isSafeInteger(value) ? value : exact
}

/** The same, with a lower limit. */
export function int64From(min: number): Shape<Int64> {
  return (place) => {
    const value = int64(place)
    if (value < min) throw outOfRange(place)
    return value
  }
}

/** An integer that a double holds exactly. */
export function integer(min: number, max: number): Shape<number> {
  return (place) => {
    const value = Number(exactInteger(place))
    if (value < min || value > max) throw outOfRange(place)
    return value
  }
}

export const int32 = integer(-(2 ** 31), 2 ** 31 - 1)

/** Whether a number is an integer depends on how it was written (G2). */
function exactInteger(place: Place): bigint {
  const { value } = place
  if (Number.isInteger(value)) return BigInt(value as number) // the condition has checked it
  if (value instanceof JsonNumber && value.isInteger()) return BigInt(value.text)
  if (typeof value === 'bigint') return value // from a YAML file
  throw place.wrongType('an integer')
}

function outOfRange(place: Place): ShapeError {
  return place.error('invalid value: integer out of range')
}

/** Any JSON, null included. */
export const anything: Shape<unknown> = (place) => place.value

export type JsonObject = Record<string, unknown>

/** An object with any keys. */
export const jsonObject: Shape<JsonObject> = (place) => {
  if (!isObject(place.value)) throw place.wrongType('an object')
  return place.value
}

/** An object with any keys, whose values all have the same shape. */
export function map<T>(shape: Shape<T>): Shape<Record<string, T>> {
  return (place) =>
    objectOf(Object.entries(jsonObject(place)).map(([key, value]) => [key, shape(place.inside(key, value))])) as Record<string, T>
}

/** The elements of an array, each with its place. */
export function elements(place: Place): Place[] {
  const { value } = place
  if (!Array.isArray(value)) throw place.wrongType('an array')
  return value.map((element, index) => place.inside(index, element))
}

export function array<T>(shape: Shape<T>): Shape<T[]> {
  return (place) => elements(place).map(shape)
}

export function oneOf<const T extends string>(...words: readonly T[]): Shape<T> {
  return (place) => {
    const value = string(place)
    const found = words.find((known) => known === value)
    if (found === undefined) throw place.unknownVariant(value, words)
    return found
  }
}

/** The name of a value's type in messages. */
function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'array'
  if (value instanceof JsonNumber || typeof value === 'bigint') return 'number'
  return typeof value
}
