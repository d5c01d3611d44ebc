import { existsSync, readFileSync, renameSync, copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { NotAMappingError, parseMapping, readMapping, renderMapping, replaceFile } from './yaml-file.ts'
import type { Mapping } from './yaml-file.ts'

/**
 * The file config.yaml (GA 1.4, 10). It is read anew on every access, so that an edit by hand takes effect at once, and
 * every write keeps the five texts before it.
 *
 * All of this is synchronous: no other request of this process comes between reading and writing.
 */
export class ConfigStore {
  readonly path: string
  /** Newest first. */
  readonly backups: readonly string[]

  constructor(directory: string) {
    this.path = join(directory, 'config.yaml')
    this.backups = ['.bak', '.bak.1', '.bak.2', '.bak.3', '.bak.4', '.bak.5'].map((end) => this.path + end)
  }

  /**
   * The settings of the file. A file that is missing, or is no mapping, is replaced by the newest backup that is one, else
   * by an empty mapping. Throws when the file cannot be read or is no UTF-8.
   */
  load(): Mapping {
    try {
      return readMapping(this.path)
    } catch (error) {
      if (!(error instanceof NotAMappingError || isMissing(error))) throw error
      return this.#recover()
    }
  }

  /** Changes the settings and writes them, if the change says nothing else. */
  update(change: (mapping: Mapping) => void): void {
    const mapping = this.load()
    change(mapping)
    this.save(mapping)
  }

  save(mapping: Mapping): void {
    this.#keepBackup()
    this.#write(renderMapping(mapping))
  }

  /** Moves each backup on by one, and makes the newest of the file as it is, unless it is corrupt. */
  #keepBackup(): void {
    if (!isValid(this.path)) return
    for (let i = this.backups.length - 1; i > 0; i--) {
      const [newer, older] = [this.backups[i - 1] ?? '', this.backups[i] ?? '']
      if (existsSync(newer)) renameSync(newer, older)
    }
    copyFileSync(this.path, this.backups[0] ?? '')
  }

  #recover(): Mapping {
    for (const backup of this.backups) {
      if (!isValid(backup)) continue
      this.#write(readFileSync(backup, 'utf8'))
      return readMapping(this.path)
    }
    this.#write('{}\n')
    return {}
  }

  #write(text: string): void {
    replaceFile(this.path, this.path.replace(/\.yaml$/, '.tmp'), text)
  }
}

function isValid(path: string): boolean {
  try {
    parseMapping(readFileSync(path))
    return true
  } catch {
    return false
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
