import { isUtf8 } from 'node:buffer'

/*
 * Values of the D-Bus specification, and their bytes. The types of a value are its signature: `s` is a text, `ao` an array of
 * object paths, `(ay)` a structure. An array of bytes is a Buffer, and any other array, structure or dictionary entry is an array.
 */

export type Value = string | number | boolean | Buffer | readonly Value[]

/** Bytes that are no D-Bus. */
export class MalformedError extends Error {
  override readonly name = 'MalformedError'
}

/** At which multiples the values of a type begin. */
const alignments: ReadonlyMap<string, number> = new Map(
  Object.entries({ y: 1, b: 4, n: 2, q: 2, i: 4, u: 4, x: 8, t: 8, d: 8, h: 4, s: 4, o: 4, g: 1, v: 1, a: 4, '(': 8, '{': 8 }),
)

/** Variants and containers may contain each other this often, together. */
const maxLevels = 64

/** The complete types of a signature. Throws a MalformedError. */
export function typesOf(signature: string): string[] {
  const types: string[] = []
  for (let at = 0; at < signature.length; ) {
    const end = endOfType(signature, at)
    types.push(signature.slice(at, end))
    at = end
  }
  return types
}

function endOfType(signature: string, at: number): number {
  const code = signature.charAt(at)
  if (!alignments.has(code)) throw new MalformedError('a signature is malformed')
  if (code === 'a') return endOfType(signature, at + 1)
  if (code !== '(' && code !== '{') return at + 1
  const closing = code === '(' ? ')' : '}'
  let end = at + 1
  do end = endOfType(signature, end)
  while (signature.charAt(end) !== closing)
  return end + 1
}

function alignmentOf(type: string): number {
  return alignments.get(type.charAt(0)) ?? 1
}

/** Writes values, in little-endian order, from a position that is a multiple of 8. */
export class ValueWriter {
  readonly #parts: Buffer[] = []
  #length = 0

  get bytes(): Buffer {
    return Buffer.concat(this.#parts)
  }

  /** Adds values whose types are those of the signature. A variant is an array of its signature and its value. */
  write(signature: string, values: readonly Value[]): void {
    const types = typesOf(signature)
    if (types.length !== values.length) throw new TypeError(`${values.length} values for the signature ${signature}`)
    for (const [i, type] of types.entries()) this.#value(type, values[i] ?? '')
  }

  align(to: number): void {
    this.#add(Buffer.alloc(-this.#length & (to - 1)))
  }

  #value(type: string, value: Value): void {
    this.align(alignmentOf(type))
    switch (type.charAt(0)) {
      case 'y':
        this.#add(Buffer.of(Number(value)))
        break
      case 'b':
      case 'u':
        this.#uint32(Number(value))
        break
      case 's':
      case 'o':
        this.#uint32(Buffer.byteLength(String(value)))
        this.#text(String(value))
        break
      case 'g':
        this.#add(Buffer.of(Buffer.byteLength(String(value))))
        this.#text(String(value))
        break
      case 'a':
        this.#array(type.slice(1), value)
        break
      case 'v': {
        const [signature = '', inner = ''] = parts(value)
        this.#value('g', signature)
        this.#value(String(signature), inner)
        break
      }
      case '(':
      case '{':
        this.write(type.slice(1, -1), parts(value))
        break
      default:
        throw new TypeError(`values of the type ${type} are not written`)
    }
  }

  #array(type: string, value: Value): void {
    const length = this.#uint32(0)
    this.align(alignmentOf(type)) // does not count
    const start = this.#length
    if (Buffer.isBuffer(value)) this.#add(value)
    else for (const member of parts(value)) this.#value(type, member)
    length.writeUInt32LE(this.#length - start)
  }

  #text(text: string): void {
    this.#add(Buffer.from(`${text}\0`))
  }

  #uint32(value: number): Buffer {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32LE(value)
    this.#add(bytes)
    return bytes
  }

  #add(bytes: Buffer): void {
    this.#parts.push(bytes)
    this.#length += bytes.length
  }
}

function parts(value: Value): readonly Value[] {
  if (!Array.isArray(value)) throw new TypeError('the value has several parts')
  return value as readonly Value[] // a Buffer is no array
}

/** Reads values, from a position that is a multiple of 8. All methods throw a MalformedError. */
export class ValueReader {
  readonly #bytes: Buffer
  readonly #isLittle: boolean
  #at = 0
  #level = 0

  constructor(bytes: Buffer, isLittle: boolean) {
    this.#bytes = bytes
    this.#isLittle = isLittle
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length
  }

  /** The next values, of the types of the signature. A variant is its value alone. Numbers of types without a use here are bytes. */
  read(signature: string): Value[] {
    if (++this.#level > maxLevels) throw new MalformedError('a value has too many levels')
    const values = typesOf(signature).map((type) => this.#value(type))
    this.#level--
    return values
  }

  align(to: number): void {
    this.#take(-this.#at & (to - 1))
  }

  #value(type: string): Value {
    this.align(alignmentOf(type))
    switch (type.charAt(0)) {
      case 'y':
        return this.#take(1).readUInt8()
      case 'b':
        return this.#boolean()
      case 'u':
        return this.#uint32()
      case 's':
      case 'o':
        return this.#text(this.#uint32())
      case 'g':
        return this.#text(this.#take(1).readUInt8())
      case 'a':
        return this.#array(type.slice(1))
      case 'v':
        return this.#variant()
      case '(':
      case '{':
        return this.read(type.slice(1, -1))
      default:
        return this.#take(type === 'n' || type === 'q' ? 2 : alignmentOf(type))
    }
  }

  #boolean(): boolean {
    const value = this.#uint32()
    if (value > 1) throw new MalformedError('a boolean is neither true nor false')
    return value === 1
  }

  #variant(): Value {
    const signature = this.#text(this.#take(1).readUInt8())
    const [value, ...more] = this.read(signature)
    if (value === undefined || more.length > 0) throw new MalformedError('a variant has not one value')
    return value
  }

  #array(type: string): Value {
    const length = this.#uint32()
    this.align(alignmentOf(type))
    if (type === 'y') return this.#take(length)
    const end = this.#at + length
    const members: Value[] = []
    while (this.#at < end) members.push(...this.read(type))
    if (this.#at !== end) throw new MalformedError('an array has another length')
    return members
  }

  #text(length: number): string {
    const bytes = this.#take(length)
    if (this.#take(1)[0] !== 0 || !isUtf8(bytes)) throw new MalformedError('a text is malformed')
    return bytes.toString()
  }

  #uint32(): number {
    const bytes = this.#take(4)
    return this.#isLittle ? bytes.readUInt32LE() : bytes.readUInt32BE()
  }

  #take(length: number): Buffer {
    const start = this.#at
    if (length > this.#bytes.length - start) throw new MalformedError('a value ends too early')
    this.#at += length
    return this.#bytes.subarray(start, this.#at)
  }
}
