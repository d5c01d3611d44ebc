import { closeSync, fsyncSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { YAMLParseError, isScalar, parseDocument, stringify, visit } from 'yaml'
import type { Scalar, ScalarTag, Tags } from 'yaml'
import { isObject } from '../json/is-object.ts'
import { JsonNumber } from '../json/number.ts'
import { objectOf } from '../json/ordered.ts'
import { makeDirectory, openPrivate } from './private-files.ts'

/** A mapping of a YAML file, in the order of the file. */
export type Mapping = Record<string, unknown>

/** Says that a text is not a YAML mapping. */
export class NotAMappingError extends Error {
  override readonly name = 'NotAMappingError'
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The value of a YAML text: plain objects and arrays, integers that a double would round as a bigint, and numbers that are no
 * integers although their values are (G2) as a JsonNumber. Throws when the text is no YAML.
 */
export function parseYaml(text: string): unknown {
  if (/[^\t\n\r\u0020-\u{10ffff}]/u.test(text)) throw new SyntaxError('a control character is no YAML')
  return settled(parsed(text))
}

function parsed(text: string): unknown {
  try {
    const document = parseDocument(text, { intAsBigInt: true, logLevel: 'error', stringKeys: true, customTags: withOwnFloats })
    const [mistake] = document.errors
    if (mistake !== undefined) throw mistake
    // The library takes a key that is not there for an empty text (G13).
    visit(document, {
      Pair: (_, { key }) => {
        if (isScalar(key) && key.source === '' && key.type === 'PLAIN' && !key.tag && !key.anchor) throw new SyntaxError('a key is missing')
      },
    })
    return document.toJS({ mapAsMap: true, maxAliasCount: 1_000_000 })
  } catch (error) {
    // Without the words of the library, which quote the text: there are secrets in it.
    if (!(error instanceof YAMLParseError)) throw new SyntaxError('not YAML')
    const [{ line, col } = { line: 1, col: 1 }] = error.linePos ?? []
    throw new SyntaxError(`not YAML at line ${line}, column ${col}: ${error.code}`)
  }
}

/** Reads a file that holds one mapping. An empty file holds an empty one. Throws the error of the platform, or a NotAMappingError. */
export function readMapping(path: string): Mapping {
  return parseMapping(readFileSync(path))
}

export function parseMapping(bytes: Uint8Array): Mapping {
  const text = decoder.decode(bytes) // a TypeError if it is no UTF-8
  let value: unknown
  try {
    value = parseYaml(text) ?? {}
  } catch (cause) {
    throw new NotAMappingError('not YAML', { cause })
  }
  if (!isObject(value)) throw new NotAMappingError('the file is not a mapping')
  return value
}

export function renderMapping(mapping: Mapping): string {
  return stringify(mapping, { lineWidth: 0, aliasDuplicateObjects: false, customTags: [exactFloat] })
}

/** Replaces a file so that readers see the old text or the new one, and never a part of it. */
export function replaceFile(path: string, temporary: string, text: string | Uint8Array): void {
  makeDirectory(dirname(path))
  try {
    const file = openPrivate(temporary, 'w')
    try {
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true }) // there may be secrets in it
    throw error
  }
}

const floatTag = 'tag:yaml.org,2002:float'

/** Reads numbers that are written with a fraction or an exponent, and writes those that it has read. */
const exactFloat: ScalarTag = {
  tag: floatTag,
  default: true,
  test: /^[-+]?(?:\.\d+|\d+\.\d*|(?:\.\d+|\d+(?:\.\d*)?)[eE][-+]?\d+)$/,
  resolve: (text) => floatOf(Number(text)),
  identify: (value) => value instanceof JsonNumber,
  stringify: ({ value }: Scalar) => String(value),
}

/** The tags of a schema, without what reads `.inf` and `.nan`, which JSON cannot say (G13), and with floats as above. */
function withOwnFloats(tags: Tags): Tags {
  return [...tags.filter((tag) => typeof tag === 'string' || tag.tag !== floatTag), exactFloat]
}

/** The value of a float, which is no integer by its digits. */
function floatOf(value: number): number | JsonNumber {
  if (!Number.isInteger(value)) return value
  const digits = String(value)
  return new JsonNumber(digits.includes('e') ? digits : `${digits}.0`)
}

/** A value without big integers where plain ones do. Throws for texts with half a surrogate pair, which only escapes can have. */
function settled(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (typeof value === 'string') return wellFormed(value)
  if (Array.isArray(value)) return value.map(settled)
  if (value instanceof Map) return objectOf([...(value as Map<string, unknown>)].map(([key, member]) => [wellFormed(key), settled(member)]))
  return value
}

function wellFormed(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new SyntaxError('half a surrogate pair is no character')
  return text
}
