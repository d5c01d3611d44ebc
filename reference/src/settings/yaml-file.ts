import { closeSync, fsyncSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { stringify } from 'yaml'
import { isObject } from '../wire/json/is-object.ts'
import { readRegularFile } from './regular-file.ts'
import { makeDirectory, openPrivate } from './private-files.ts'
import { exactFloat, parseYaml } from '../wire/yaml/yaml.ts'

/** A mapping in a YAML file, in the order of the file. */
export type Mapping = Record<string, unknown>

/** A text is not a YAML mapping. */
export class NotAMappingError extends Error {
  override readonly name = 'NotAMappingError'
}

/**
 * Reads a file that contains one mapping. An empty file counts as an empty mapping. Throws the error of the platform, or a
 * NotAMappingError.
 */
export function readMapping(path: string): Mapping {
  return parseMapping(readRegularFile(path))
}

export function parseMapping(bytes: Uint8Array): Mapping {
  let value: unknown
  try {
    value = parseYaml(bytes) ?? {}
  } catch (cause) {
    throw new NotAMappingError('not YAML', { cause })
  }
  if (!isObject(value)) throw new NotAMappingError('the file is not a mapping')
  return value
}

export function renderMapping(mapping: Mapping): string {
  return stringify(mapping, { lineWidth: 0, aliasDuplicateObjects: false, customTags: [exactFloat] })
}

/** Replaces a file. Readers see either the old text or the new one, but never a part of it. */
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
    rmSync(temporary, { force: true }) // it may contain secrets
    throw error
  }
}
