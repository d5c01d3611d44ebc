import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parse, stringify } from 'yaml'
import type { Tags } from 'yaml'
import { isObject } from '../json/is-object.ts'

/** A mapping of a YAML file, in the order of the file. */
export type Mapping = Record<string, unknown>

/** Says that a text is not a YAML mapping. */
export class NotAMappingError extends Error {
  override readonly name = 'NotAMappingError'
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The value of a YAML text: plain objects and arrays, integers that a double would round as a bigint. */
export function parseYaml(text: string): unknown {
  return withPlainIntegers(parse(text, { intAsBigInt: true, logLevel: 'error', stringKeys: true, maxAliasCount: 1_000_000, customTags: withoutInfinity }))
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
  return stringify(mapping, { lineWidth: 0, aliasDuplicateObjects: false })
}

/** Replaces a file so that readers see the old text or the new one, and never a part of it. */
export function replaceFile(path: string, temporary: string, text: string, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(temporary, 'w', mode)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
}

/** The tags of a schema without the one that reads `.inf` and `.nan`, which JSON cannot say (G13). */
function withoutInfinity(tags: Tags): Tags {
  return tags.filter((tag) => typeof tag === 'string' || !('test' in tag) || !tag.test.test('.inf'))
}

function withPlainIntegers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  if (Array.isArray(value)) return value.map(withPlainIntegers)
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withPlainIntegers(member)]))
  return value
}
