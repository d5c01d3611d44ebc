import { isObject } from '../json/is-object.ts'
import { stringifyJson } from '../json/stringify.ts'
import { maxLevels, maxValues } from './yaml.ts'

type Collection = unknown[] | Record<string, unknown>

/**
 * The YAML of an object or array of JSON values, which `parseYaml` reads as the same values (G40). Its lines show the structure,
 * unless their indentation makes the text larger than `maxBytes`. The text may still be larger. Throws a RangeError if there are too
 * many levels or values.
 */
export function renderYaml(value: Collection, maxBytes: number): string {
  const block = new BlockWriter(maxBytes - 1).write(value)
  return `${block ?? escaped(stringifyJson(value))}\n` // JSON is YAML
}

/** Writes each key and each element on its own line. */
class BlockWriter {
  readonly #pieces: string[] = []
  readonly #maxBytes: number
  #bytes = 0
  #values = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The text of a value; undefined if it is too large. */
  write(value: Collection): string | undefined {
    this.#value(value, 1, '', '')
    return this.#fits() ? this.#pieces.join('') : undefined
  }

  /** A value on a level. `gap` comes before a text, and `lineBreak` before the first of several lines. */
  #value(value: unknown, level: number, gap: string, lineBreak: string): void {
    if (++this.#values > maxValues) throw new RangeError('there are too many values')
    if (!isCollection(value)) {
      this.#put(`${gap}${typeof value === 'string' ? textOf(value) : stringifyJson(value)}`)
      return
    }
    if (level > maxLevels) throw new RangeError('there are too many levels')
    if (isEmpty(value)) {
      this.#put(`${gap}${Array.isArray(value) ? '[]' : '{}'}`)
      return
    }
    this.#put(lineBreak)
    this.#members(value, level)
  }

  /** The first member begins where the text ends; the others are below it. */
  #members(value: Collection, level: number): void {
    const lineBreak = `\n${'  '.repeat(level - 1)}`
    const isArray = Array.isArray(value)
    let between = ''
    for (const [key, member] of Object.entries(value)) {
      this.#put(`${between}${isArray ? '-' : keyText(key, lineBreak)}`)
      this.#value(member, level + 1, ' ', isArray ? ' ' : `${lineBreak}  `)
      between = lineBreak
    }
  }

  #put(piece: string): void {
    this.#bytes += Buffer.byteLength(piece)
    if (this.#fits()) this.#pieces.push(piece)
  }

  #fits(): boolean {
    return this.#bytes <= this.#maxBytes
  }
}

function isCollection(value: unknown): value is Collection {
  return Array.isArray(value) || isObject(value)
}

function isEmpty(value: Collection): boolean {
  return (Array.isArray(value) ? value : Object.keys(value)).length === 0
}

/** Longer texts are quoted, and longer keys have a `?`: YAML limits other keys to 1,024 characters, and some readers to as many bytes. */
const longText = 256

function keyText(key: string, lineBreak: string): string {
  const text = textOf(key)
  return text.length > longText ? `? ${text}${lineBreak}:` : `${text}:`
}

/** Texts that no reader takes for something else: words, of which the first begins with a letter. Other texts are quoted. */
const plain = /^[A-Za-z_/][\w./@+-]*(?: [\w./@+-]+)*$/
/** Except for these, which are booleans and null in YAML 1.1 or 1.2. */
const otherwise = /^(?:y|n|yes|no|on|off|true|false|null)$/i

function textOf(text: string): string {
  return text.length <= longText && plain.test(text) && !otherwise.test(text) ? text : escaped(JSON.stringify(text))
}

/** A JSON text with escapes for characters that YAML does not allow in a text, or that some readers take for line breaks. */
function escaped(json: string): string {
  return json.replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
