import {
  Composer, Lexer, LineCounter, Parser, isAlias, isCollection, isScalar, isSeq, type CST, type Document, type Scalar,
  type ScalarTag, type Tags, type YAMLMap, type YAMLSeq,
} from 'yaml'
import { JsonNumber, numberOf } from '../json/number.ts'
import { objectOf } from '../json/ordered.ts'

/** The limits of a document with its aliases expanded (G13). */
export const maxLevels = 500
export const maxValues = 1_000_000
const maxTextBytes = 10 * 1024 * 1024

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The value of a YAML document (G13). It consists of plain objects and arrays. Integers that a double would round are bigints.
 * Floats that a double would round, and those with an integral value, are JsonNumbers (G2, G39). Throws a SyntaxError if the text is not YAML. Its message does not contain
 * the library's text, which quotes the document, because the document may contain secrets.
 */
export function parseYaml(yaml: Uint8Array | string): unknown {
  try {
    const text = typeof yaml === 'string' ? yaml : decoder.decode(yaml)
    if (/[^\t\n\r\u0020-\u{10ffff}]/u.test(text)) throw new SyntaxError('a control character is no YAML')
    return new Values().of(parsed(text).contents)
  } catch (error) {
    throw error instanceof SyntaxError ? error : new SyntaxError('not YAML')
  }
}

/** Stops at the first mistake, because a text may have one at each byte. */
function parsed(text: string): Document.Parsed {
  const lines = new LineCounter()
  let first: SyntaxError | undefined // the library would report an error thrown here as a mistake in the text
  const refuse = (offset: number, code: string): never => {
    const { line, col } = lines.linePos(offset)
    throw (first ??= new SyntaxError(`not YAML at line ${line}, column ${col}: ${code}`))
  }
  // The library's own check for unique keys compares each key with all others.
  const composer = new Composer({ intAsBigInt: true, logLevel: 'error', stringKeys: true, uniqueKeys: false, customTags: withOwnFloats })
  // The library collects mistakes, and has no option to stop. yaml.test.ts fails if the library changes.
  Object.assign(composer, {
    onError: (source: Source, code: string, _: string, warning?: boolean) => {
      if (warning !== true) refuse(offsetOf(source), code)
    },
  })
  let document: Document.Parsed | undefined
  for (const next of composer.compose(tokens(text, lines, refuse), true, text.length)) {
    if (document !== undefined) refuse(next.range[0], 'MULTIPLE_DOCS')
    document = next
  }
  const [mistake] = document?.errors ?? []
  if (document === undefined || mistake !== undefined) return refuse(mistake?.pos[0] ?? 0, mistake?.code ?? 'MISSING')
  return document
}

/** The position of a mistake, in the forms in which the library reports it. */
type Source = number | [number, number] | { offset: number }

function offsetOf(source: Source): number {
  if (typeof source === 'number') return source
  return Array.isArray(source) ? source[0] : source.offset
}

function* tokens(text: string, lines: LineCounter, refuse: (offset: number, code: string) => never): Generator<CST.Token> {
  lines.addNewLine(0)
  const parser = new Parser(lines.addNewLine)
  for (const lexeme of new Lexer().lex(text)) {
    yield* checked(parser.next(lexeme), refuse)
    // Composing is recursive and must not fill the stack: V8 ends the process if a regular expression finds the stack full.
    if (parser.stack.length > maxLevels + notCollections) refuse(parser.offset, 'TOO_DEEP')
  }
  yield* checked(parser.end(), refuse)
}

/** The entries on the parser's stack that are not collections: the document, and a scalar. */
const notCollections = 2

function* checked(tokens: Iterable<CST.Token>, refuse: (offset: number, code: string) => never): Generator<CST.Token> {
  for (const token of tokens) {
    if (token.type === 'error') refuse(token.offset, 'UNEXPECTED_TOKEN')
    yield token
  }
}

/** The value of an anchor. */
interface Anchored {
  value: unknown
  levels: number
  values: number
  bytes: number
}

/** Converts nodes to values, and counts them, including the expansions of aliases. */
class Values {
  /** The anchors by name. An anchor is undefined until its end is reached, because an alias inside it would expand for ever. */
  readonly #anchors = new Map<string, Anchored | undefined>()
  #values = 0
  #bytes = 0
  /** The current level, and the deepest level since the last anchor. */
  #level = 0
  #deepest = 0

  of(node: unknown): unknown {
    if (isAlias(node)) {
      const anchored = this.#anchors.get(node.source)
      if (anchored === undefined) throw new SyntaxError('an alias without an anchor is no YAML')
      this.#count(anchored.values, anchored.bytes)
      this.#reach(this.#level + anchored.levels)
      return anchored.value
    }
    if (!isScalar(node) && !isCollection(node)) return this.#scalar(null, '')
    const { anchor } = node
    if (anchor === undefined) return this.#made(node)
    this.#anchors.set(anchor, undefined)
    const [values, bytes, deepest] = [this.#values, this.#bytes, this.#deepest]
    this.#deepest = this.#level
    const value = this.#made(node)
    this.#anchors.set(anchor, { value, levels: this.#deepest - this.#level, values: this.#values - values, bytes: this.#bytes - bytes })
    this.#reach(deepest)
    return value
  }

  #made(node: Scalar | YAMLMap | YAMLSeq): unknown {
    if (isScalar(node)) return this.#scalar(node.value, node.source)
    this.#count(1, 0)
    this.#reach(++this.#level)
    const value = isSeq(node) ? node.items.map((item) => this.of(item)) : this.#mapping(node)
    this.#level--
    return value
  }

  #mapping(node: YAMLMap): unknown {
    const members = new Map<string, unknown>()
    for (const { key, value } of node.items) {
      const name = this.#name(key)
      if (members.has(name)) throw new SyntaxError('a key that is there twice is no YAML')
      members.set(name, this.of(value))
    }
    return objectOf([...members])
  }

  /** The text of a key, which does not count as a value. For a missing key the library has an empty text. */
  #name(key: unknown): string {
    if (!isScalar(key) || typeof key.value !== 'string') throw new SyntaxError('a key that is no text is no YAML')
    if (key.source === '' && key.type === 'PLAIN' && !key.tag && !key.anchor) throw new SyntaxError('a key is missing')
    const bytes = Buffer.byteLength(key.value)
    this.#count(0, bytes)
    if (key.anchor !== undefined) this.#anchors.set(key.anchor, { value: key.value, levels: 0, values: 1, bytes })
    return wellFormed(key.value)
  }

  #scalar(value: unknown, source = ''): unknown {
    this.#count(1, Buffer.byteLength(source))
    if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
    return typeof value === 'string' ? wellFormed(value) : value
  }

  #reach(level: number): void {
    this.#deepest = Math.max(this.#deepest, level)
    if (level > maxLevels) throw new SyntaxError('the document is too deep')
  }

  #count(values: number, bytes: number): void {
    this.#values += values
    this.#bytes += bytes
    if (this.#values > maxValues || this.#bytes > maxTextBytes) throw new SyntaxError('the document is too large')
  }
}

/** Throws for texts with an unpaired surrogate, which only escapes can produce. */
function wellFormed(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new SyntaxError('half a surrogate pair is no character')
  return text
}

const floatTag = 'tag:yaml.org,2002:float'

/** The tags of a schema, without those for `.inf` and `.nan`, which JSON cannot express (G13), and with exact floats. */
function withOwnFloats(tags: Tags): Tags {
  return [...tags.filter((tag) => typeof tag === 'string' || tag.tag !== floatTag), exactFloat]
}

/** Numbers that are written with a fraction or an exponent. */
const exactFloat: ScalarTag = {
  tag: floatTag,
  default: true,
  test: /^[-+]?(?:\.\d+|\d+\.\d*|(?:\.\d+|\d+(?:\.\d*)?)[eE][-+]?\d+)$/,
  resolve: floatOf,
}

/** A number as JSON writes it. */
const ofJson = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/

/**
 * The value of a float, with its digits if JSON can express them (G39). One with an integral value becomes a JsonNumber, so that it
 * does not count as an integer. A number that neither JSON nor a double can express is a text, as in a variable (G14).
 */
function floatOf(text: string): unknown {
  const value = Number(text)
  if (ofJson.test(text)) return Number.isInteger(value) ? new JsonNumber(text) : numberOf(text, value)
  if (!Number.isInteger(value)) return Number.isFinite(value) ? value : text
  const digits = String(value)
  return new JsonNumber(digits.includes('e') ? digits : `${digits}.0`)
}
