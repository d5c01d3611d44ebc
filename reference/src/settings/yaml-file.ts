import { isObject } from '../wire/json/is-object.ts'
import { renderYaml } from '../wire/yaml/render.ts'
import { parseYaml } from '../wire/yaml/yaml.ts'
import { isMissing } from '../error-code.ts'
import { linkedFile, maxFileBytes, readUtf8File } from './regular-file.ts'
import { replaceFile } from './private-files.ts'

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
  return parseMapping(readUtf8File(path))
}

/** Reads such a file if it exists. A missing file counts as an empty mapping. */
export function readMappingIfAny(path: string): Mapping {
  try {
    return readMapping(path)
  } catch (error) {
    if (isMissing(error)) return {}
    throw error
  }
}

function parseMapping(bytes: Uint8Array): Mapping {
  let value: unknown
  try {
    value = parseYaml(bytes) ?? {}
  } catch (cause) {
    throw new NotAMappingError('not YAML', { cause })
  }
  if (!isObject(value)) throw new NotAMappingError('the file is not a mapping')
  return value
}

/** The text of a file with this mapping. Throws a RangeError if `readMapping` could not read that file, because a bound is broken (G40). */
export function renderMapping(mapping: Mapping): Buffer {
  const bytes = Buffer.from(renderYaml(mapping, maxFileBytes))
  if (bytes.length > maxFileBytes) throw new RangeError(`the file would have more than ${maxFileBytes} bytes`)
  return bytes
}

/** Writes a text of renderMapping into a file, or into the file to which a link leads (G41). */
export function writeMapping(path: string, text: Uint8Array): void {
  replaceFile(linkedFile(path), text)
}
