import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '../log.ts'
import { readRegularFile } from './regular-file.ts'
import { NotAMappingError, parseMapping, readMapping, renderMapping, replaceFile } from './yaml-file.ts'
import type { Mapping } from './yaml-file.ts'

/**
 * The file config.yaml (GA 1.4, 10). It is read on every access, so manual changes take effect at once. Every write keeps
 * backups.
 *
 * All methods are synchronous, so no other request of this process runs between reading and writing.
 */
export class ConfigStore {
  readonly path: string
  /** Newest first. */
  readonly backups: readonly string[]
  /** Copies of broken files, newest first (G13). */
  readonly #broken: readonly string[]
  readonly #logger: Logger | undefined

  constructor(directory: string, logger?: Logger) {
    this.path = join(directory, 'config.yaml')
    const six = (end: string): string[] => ['', '.1', '.2', '.3', '.4', '.5'].map((number) => `${this.path}${end}${number}`)
    this.backups = six('.bak')
    this.#broken = six('.broken')
    this.#logger = logger
  }

  /**
   * The settings in the file. A missing or broken file is replaced by the newest valid backup, or by an empty mapping if there is
   * none. Throws if the file cannot be read.
   */
  load(): Mapping {
    try {
      return readMapping(this.path)
    } catch (error) {
      if (!(error instanceof NotAMappingError || isMissing(error))) throw error
      return this.#recover()
    }
  }

  /** Changes the settings, and writes them unless `change` throws. */
  update(change: (mapping: Mapping) => void): void {
    const mapping = this.load()
    change(mapping)
    this.save(mapping)
  }

  save(mapping: Mapping): void {
    this.#keep()
    this.#write(renderMapping(mapping))
  }

  /** Copies the current file to the backups, or to the broken files if it is not a mapping. Returns the path of the copy. */
  #keep(): string | undefined {
    let bytes: Buffer
    try {
      bytes = readRegularFile(this.path)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
    return rotate(isMapping(bytes) ? this.backups : this.#broken, bytes)
  }

  #recover(): Mapping {
    const broken = this.#keep()
    const backup = this.backups.find(isValid)
    if (backup !== undefined) this.#write(readRegularFile(backup))
    else this.#write('{}\n')
    // A file that did not exist before is not logged.
    if (broken !== undefined || backup !== undefined) {
      this.#logger?.warn('settings replaced', { file: this.path, from: backup ?? null, kept: broken ?? null })
    }
    return readMapping(this.path)
  }

  #write(text: string | Uint8Array): void {
    replaceFile(this.path, this.path.replace(/\.yaml$/, '.tmp'), text)
  }
}

/** Renames each of these files to the next one, writes the newest as the first, and returns its path. */
function rotate(files: readonly string[], newest: Uint8Array): string {
  for (let i = files.length - 1; i > 0; i--) {
    const [newer, older] = [files[i - 1] ?? '', files[i] ?? '']
    if (existsSync(newer)) renameSync(newer, older)
  }
  const [first = ''] = files
  replaceFile(first, `${first}.tmp`, newest)
  return first
}

function isValid(path: string): boolean {
  try {
    return isMapping(readRegularFile(path))
  } catch {
    return false
  }
}

function isMapping(bytes: Uint8Array): boolean {
  try {
    parseMapping(bytes)
    return true
  } catch {
    return false
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
