import { dirname } from 'node:path'
import { isObject } from '../wire/json/is-object.ts'
import { renderYaml } from '../wire/yaml/render.ts'
import { parseYaml } from '../wire/yaml/yaml.ts'
import { isMissing } from '../error-code.ts'
import { linkedFile, maxFileBytes, readUtf8File } from './regular-file.ts'
import { removeLeftFiles, replaceFile } from './private-files.ts'

/** A mapping in a YAML file, in the order of the file. */
export type Mapping = Record<string, unknown>

/** A text is not a YAML mapping. */
export class NotAMappingError extends Error {
  override readonly name = 'NotAMappingError'
}

/** A file that contains one mapping. Several processes may change it. */
export class MappingFile {
  readonly path: string
  /** The mapping in the bytes that were read last. They are not parsed again, because this may take seconds. */
  #last: { bytes: Buffer; mapping: Mapping } | undefined

  constructor(path: string) {
    this.path = path
  }

  /**
   * Reads the mapping. It must not be changed. An empty file counts as an empty mapping. Throws the error of the platform, or a
   * NotAMappingError.
   */
  read(): Mapping {
    const bytes = readUtf8File(this.path)
    if (this.#last?.bytes.equals(bytes) !== true) this.#last = { bytes, mapping: parseMapping(bytes) }
    return this.#last.mapping
  }

  /** The same. A missing file counts as an empty mapping. */
  readIfAny(): Mapping {
    try {
      return this.read()
    } catch (error) {
      if (isMissing(error)) return {}
      throw error
    }
  }

  /** Writes a text of renderMapping, into the file to which a link leads if the path is one (G41). */
  write(text: Uint8Array, beforeRename?: () => void): void {
    const path = linkedFile(this.path)
    removeLeftFiles(dirname(path))
    replaceFile(path, text, beforeRename)
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

/** The text of a file with this mapping. Throws a RangeError if that file would break a bound (G40). */
export function renderMapping(mapping: Mapping): Buffer {
  const bytes = Buffer.from(renderYaml(mapping, maxFileBytes))
  if (bytes.length > maxFileBytes) throw new RangeError(`the file would have more than ${maxFileBytes} bytes`)
  return bytes
}
