import { statSync } from 'node:fs'
import { isObject } from '../wire/json/is-object.ts'
import { renderYaml } from '../wire/yaml/render.ts'
import { largeYaml, parseYamlInThread } from '../wire/yaml/yaml-thread.ts'
import { parseYaml } from '../wire/yaml/yaml.ts'
import { isMissing } from '../error-code.ts'
import { maxFileBytes, readUtf8File } from './regular-file.ts'
import { replaceLinkedFile } from './private-files.ts'

/** A mapping in a YAML file, in the order of the file. */
export type Mapping = Record<string, unknown>

/** A text is not a YAML mapping. */
export class NotAMappingError extends Error {
  override readonly name = 'NotAMappingError'
}

/** What the bytes of a file are. */
type Parsed = { bytes: Buffer } & ({ mapping: Mapping } | { error: unknown })

/** A file that contains one mapping. Several processes may change it. */
export class MappingFile {
  readonly path: string
  /** What was read last. The same bytes are not parsed again. */
  #last: Parsed | undefined
  /** Resolves when a thread has parsed the file. */
  #preparing: Promise<void> | undefined

  constructor(path: string) {
    this.path = path
  }

  /**
   * Reads the mapping. It must not be changed. An empty file counts as an empty mapping. Throws the error of the platform, or a
   * NotAMappingError.
   */
  read(): Mapping {
    const bytes = readUtf8File(this.path)
    if (this.#last?.bytes.equals(bytes) !== true) this.#last = parsedNow(bytes)
    if ('error' in this.#last) throw this.#last.error
    return this.#last.mapping
  }

  /** If the file is large and has changed, a thread parses it, so that `read` need not. `read` throws if anything fails. */
  async prepare(): Promise<void> {
    for (let round = 0; round < 2; round++) {
      const bytes = this.#unparsed()
      if (bytes === undefined) return
      this.#preparing ??= parsedInThread(bytes).then((parsed) => {
        this.#last = parsed
        this.#preparing = undefined
      })
      await this.#preparing // another request may have begun it, before the file changed
    }
  }

  /** The bytes of a large file that has changed. */
  #unparsed(): Buffer | undefined {
    try {
      const bytes = statSync(this.path).size > largeYaml ? readUtf8File(this.path) : undefined
      return bytes !== undefined && this.#last?.bytes.equals(bytes) === true ? undefined : bytes
    } catch {
      return undefined
    }
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

  /** Writes a mapping. Throws a RangeError, and changes nothing, if that file would break a bound (G40). */
  replace(mapping: Mapping, beforeRename?: () => void): void {
    const bytes = renderMapping(mapping)
    this.write(bytes, beforeRename)
    if (bytes.length > largeYaml) this.#last = { bytes, mapping } // it is read back as the same values (G40)
  }

  /** Writes a text, into the file to which a link leads if the path is one (G41). */
  write(text: Uint8Array, beforeRename?: () => void): void {
    replaceLinkedFile(this.path, text, beforeRename)
  }
}

function parsedNow(bytes: Buffer): Parsed {
  try {
    return { bytes, mapping: mappingOf(parseYaml(bytes)) }
  } catch (cause) {
    return { bytes, error: failureOf(cause) }
  }
}

async function parsedInThread(bytes: Buffer): Promise<Parsed> {
  try {
    return { bytes, mapping: mappingOf(await parseYamlInThread(bytes)) }
  } catch (cause) {
    return { bytes, error: failureOf(cause) }
  }
}

function mappingOf(value: unknown): Mapping {
  const mapping = value ?? {}
  if (!isObject(mapping)) throw new NotAMappingError('the file is not a mapping')
  return mapping
}

function failureOf(cause: unknown): unknown {
  return cause instanceof SyntaxError ? new NotAMappingError('not YAML', { cause }) : cause
}

/** The text of a file with this mapping. Throws a RangeError if that file would break a bound (G40). */
export function renderMapping(mapping: Mapping): Buffer {
  const bytes = Buffer.from(renderYaml(mapping, maxFileBytes))
  if (bytes.length > maxFileBytes) throw new RangeError(`the file would have more than ${maxFileBytes} bytes`)
  return bytes
}
