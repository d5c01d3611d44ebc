import { TextDecoder } from 'node:util'
import { numberOf } from './number.ts'
import { ObjectBuilder } from './ordered.ts'
import { JsonSyntaxError, TooManyValuesError, endOfString, maxDepth } from './parse.ts'
import { TimeSlices, runToEnd, runInSlices } from './time-slices.ts'
import { wellFormed } from './well-formed.ts'

/*
 * JSON as the goose server reads it. JSON.parse does not report what a decoder of typed bodies needs (GA 2.5): which keys an
 * object has twice, how numbers were written, and where in the text a value is.
 */

type Key = string | number

/** The repeated keys of objects, each with its values before the last one. */
type Repeated = WeakMap<object, Map<Key, unknown[]>>

/** A JSON text: its value, and details that the value does not show. */
export class JsonDocument {
  readonly value: unknown
  readonly #text: string
  readonly #repeated: Repeated

  /** Throws a JsonSyntaxError if the text is not exactly one JSON value. */
  constructor(text: string, parsed = parsedNow(text, {})) {
    this.value = parsed.value
    this.#text = text
    this.#repeated = parsed.repeated
  }

  /** Whether an object has a key more than once. */
  isRepeated(container: object, key: Key): boolean {
    return this.#repeated.get(container)?.has(key) ?? false
  }

  /** The values of an object's repeated keys, without the last value of each, which is in the object. */
  replacedIn(container: object): unknown[] {
    return [...(this.#repeated.get(container)?.values() ?? [])].flat(1)
  }

  /** Where the value at a path ends, as `line 1 column 2`; columns count bytes of UTF-8. It is slow, and only for messages. */
  endOf(path: readonly Key[]): string {
    const parser = new Parser(this.#text, { wanted: path })
    runToEnd(parser.steps())
    return position(this.#text, parser.foundEnd)
  }
}

/** Parses a JSON text in time slices. Rejects with a JsonSyntaxError. */
export async function documentInSlices(text: string, options?: ParserOptions): Promise<JsonDocument> {
  const parser = new Parser(text, options)
  const value = await runInSlices(parser.steps())
  return new JsonDocument(text, { value, repeated: parser.repeated })
}

/** Parses the bytes of a JSON text. A byte order mark, invalid UTF-8 and unpaired surrogates are syntax errors. */
export function parseJsonDocument(bytes: Uint8Array, options: ParserOptions = {}): JsonDocument {
  const text = decodeStrictly(bytes)
  return new JsonDocument(text, parsedNow(text, options))
}

interface Parsed {
  value: unknown
  repeated: Repeated
}

function parsedNow(text: string, options: ParserOptions): Parsed {
  const parser = new Parser(text, options)
  return { value: runToEnd(parser.steps()), repeated: parser.repeated }
}

/** Parses the bytes of a JSON text like `parseJsonDocument`, in time slices. */
export async function parseDocumentInSlices(bytes: Uint8Array, options?: ParserOptions): Promise<JsonDocument> {
  return documentInSlices(await decodeInSlices(bytes, strictDecoder()), options)
}

/** Throws a JsonSyntaxError for invalid UTF-8. A byte order mark is kept. */
function decodeStrictly(bytes: Uint8Array): string {
  try {
    return strictDecoder().decode(bytes)
  } catch (cause) {
    throw new JsonSyntaxError('invalid UTF-8', { cause })
  }
}

function strictDecoder(): TextDecoder {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
}

/** Decodes bytes in time slices. Rejects with a JsonSyntaxError if the decoder rejects them. */
export async function decodeInSlices(bytes: Uint8Array, decoder: TextDecoder): Promise<string> {
  const slices = new TimeSlices()
  let text = ''
  try {
    for (let at = 0; at < bytes.length; at += decodedAtOnce) {
      text += decoder.decode(bytes.subarray(at, at + decodedAtOnce), { stream: true })
      await slices.yieldIfDue()
    }
    return text + decoder.decode()
  } catch (cause) {
    throw new JsonSyntaxError('invalid UTF-8', { cause })
  }
}

/** How many bytes take about a millisecond. */
const decodedAtOnce = 1024 * 1024

function position(text: string, end: number): string {
  const before = text.slice(0, end)
  const lines = before.split('\n')
  return `line ${lines.length} column ${Buffer.byteLength(lines.at(-1) ?? '')}`
}

/** A container that is not closed yet. */
type Open = { array: unknown[]; size: number } | { object: ObjectBuilder; key: string; repeated?: Map<Key, unknown[]> }

interface ParserOptions {
  /** The path of a value whose end position is needed. */
  wanted?: readonly Key[]
  /** Values are like those of JSON.parse: with unpaired surrogates, doubles, and keys in JavaScript's order. */
  isPlain?: boolean
  /** Unpaired surrogates become U+FFFD. Without this, they are a syntax error. */
  isLenient?: boolean
  /** The most levels, if not 9,000. */
  maxLevels?: number
  /** A text with more values is rejected with a TooManyValuesError (S51). */
  maxValues?: number
  /**
   * A member of the outermost object whose elements are counted even if there are too many values. The text is then parsed to its
   * end, but nothing is kept.
   */
  counted?: string | undefined
}

/** How many values are parsed, or containers opened, between two checks of the time slice. */
const roundsAtOnce = 1000

/** Parses with its own stack, because bodies may have thousands of levels (S27). */
export class Parser {
  readonly repeated: Repeated = new WeakMap()
  /** The offset after the value at the wanted path. */
  foundEnd: number
  readonly #text: string
  readonly #wanted: readonly Key[] | undefined
  readonly #isPlain: boolean
  readonly #isLenient: boolean
  readonly #maxLevels: number
  readonly #maxValues: number
  readonly #counted: string | undefined
  /** The number of values so far, without containers that are not closed yet. */
  #values = 0
  /** The number of elements of the last value, and of the counted member. */
  #size: number | undefined
  #elements: number | undefined
  readonly #stack: Open[] = []
  #at = 0

  constructor(text: string, { wanted, isPlain = false, isLenient = false, maxLevels = maxDepth, maxValues = Infinity, counted }: ParserOptions = {}) {
    this.#text = text
    this.#wanted = wanted
    this.#isPlain = isPlain
    this.#isLenient = isLenient
    this.#maxLevels = maxLevels
    this.#maxValues = maxValues
    this.#counted = counted
    this.foundEnd = text.length
  }

  /** Parses the text. May be called once. */
  *steps(): Generator<undefined, unknown> {
    let rounds = 0
    let value = this.#value()
    // Each round adds one finished value to its container, or opens a container.
    for (let open = this.#stack.at(-1); open !== undefined; open = this.#stack.at(-1)) {
      if (++rounds % roundsAtOnce === 0) yield
      if (value !== opened) {
        this.#add(open, value)
        if (this.#comma(open)) value = this.#value()
        else value = this.#close()
      } else if (this.#closesAtOnce(open)) {
        value = this.#close()
      } else {
        if ('object' in open) open.key = this.#key()
        value = this.#value()
      }
    }
    this.#blanks()
    if (this.#at < this.#text.length) throw this.#error('trailing characters')
    if (this.#isTooMany()) throw new TooManyValuesError(this.#elements)
    return value
  }

  /** A scalar, or `opened` if a container was pushed onto the stack. */
  #value(): unknown {
    this.#blanks()
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x22: // "
        return this.#ended(this.#string())
      case 0x5b: // [
        return this.#open({ array: [], size: 0 })
      case 0x7b: // {
        return this.#open({ object: new ObjectBuilder(!this.#isPlain), key: '' })
      default:
        return this.#ended(this.#word())
    }
  }

  #open(open: Open): typeof opened {
    if (this.#stack.length === this.#maxLevels) throw this.#error(`nested more than ${this.#maxLevels} levels deep`)
    this.#at++
    this.#stack.push(open)
    return opened
  }

  #closesAtOnce(open: Open): boolean {
    this.#blanks()
    return this.#text[this.#at] === closer(open)
  }

  #close(): unknown {
    this.#at++
    const open = this.#stack.pop()
    if (open === undefined) throw new Error('a bracket is closed that was never opened')
    if ('array' in open) return this.#ended(open.array, open.size)
    const { object } = open.object
    if (open.repeated) this.repeated.set(object, open.repeated)
    return this.#ended(object)
  }

  /** Whether another member follows. If so, its key is parsed too. */
  #comma(open: Open): boolean {
    this.#blanks()
    const next = this.#text[this.#at]
    if (next === closer(open)) return false
    if (next !== ',') throw this.#error(`expected \`,\` or \`${closer(open)}\``)
    this.#at++
    if ('object' in open) open.key = this.#key()
    return true
  }

  #key(): string {
    this.#blanks()
    if (this.#text[this.#at] !== '"') throw this.#error('key must be a string')
    const key = this.#string()
    this.#blanks()
    if (this.#text[this.#at] !== ':') throw this.#error('expected `:`')
    this.#at++
    return key
  }

  #add(open: Open, value: unknown): void {
    if ('array' in open) {
      open.size++
      if (!this.#isTooMany()) open.array.push(value)
      return
    }
    if (open.key === this.#counted && this.#stack.length === 1) this.#elements = this.#size
    if (this.#isTooMany()) return
    const before = open.object.set(open.key, value)
    if (before === undefined) return
    const repeated = (open.repeated ??= new Map<Key, unknown[]>())
    const values = repeated.get(open.key)
    if (values === undefined) repeated.set(open.key, [before.replaced])
    else values.push(before.replaced)
  }

  #isTooMany(): boolean {
    return this.#values > this.#maxValues
  }

  #string(): string {
    const start = this.#at
    const end = endOfString(this.#text, start)
    if (end === this.#text.length) throw this.#error('EOF while parsing a string', end)
    this.#at = end + 1
    const value = this.#native(start) as string // a text in quotation marks is either a string or invalid
    if (this.#isPlain || !unpaired.test(value)) return value
    if (this.#isLenient) return wellFormed(value)
    throw this.#error('lone surrogate in a string')
  }

  /** Parses `true`, `false`, `null` or a number. */
  #word(): unknown {
    const start = this.#at
    word.lastIndex = start
    word.exec(this.#text)
    this.#at = Math.max(word.lastIndex, start)
    if (this.#at === start) throw this.#error(start === this.#text.length ? 'EOF while parsing a value' : 'expected value')
    const value = this.#native(start)
    return typeof value === 'number' && !this.#isPlain ? numberOf(this.#text.slice(start, this.#at), value) : value
  }

  /** Parses the text from `start` up to here with the engine's own parser. */
  #native(start: number): unknown {
    try {
      return JSON.parse(this.#text.slice(start, this.#at)) as unknown // declared as `any`
    } catch {
      throw this.#error('expected value') // without the engine's message, which quotes the text
    }
  }

  /** Called with each value after its last character. */
  #ended(value: unknown, size?: number): unknown {
    this.#values++
    if (this.#isTooMany() && this.#counted === undefined) throw new TooManyValuesError()
    this.#size = size
    if (this.#wanted !== undefined && this.#isAt(this.#wanted)) this.foundEnd = this.#at
    return value
  }

  #isAt(path: readonly Key[]): boolean {
    if (path.length !== this.#stack.length) return false
    return this.#stack.every((open, i) => path[i] === ('array' in open ? open.size : open.key))
  }

  #blanks(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at++
    }
  }

  #error(what: string, at = this.#at): JsonSyntaxError {
    return new JsonSyntaxError(`${what} at ${position(this.#text, at)}`)
  }
}

/** A container whose members follow. */
const opened = Symbol('opened')

/** An unpaired surrogate; only an escape can produce one. */
const unpaired = /\p{Surrogate}/u

/** All characters of literals and numbers. The engine's parser decides whether a text is valid. */
const word = /[-+.0-9A-Za-z]+/y

function closer(open: Open): ']' | '}' {
  return 'array' in open ? ']' : '}'
}
