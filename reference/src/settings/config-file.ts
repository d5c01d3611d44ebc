import { renameSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isMissing } from '../error-code.ts'
import type { Logger } from '../log.ts'
import { replaceFile } from './private-files.ts'
import { readRegularFile } from './regular-file.ts'
import { MappingFile, NotAMappingError, type Mapping } from './yaml-file.ts'

/*
 * The file config.yaml in the directory of settings, and its backups (GA 10). Other programs may change them too.
 *
 * All functions are synchronous, so no other request of this process runs between reading and writing (G42).
 */

export function configFile(directory: string): string {
  return join(directory, 'config.yaml')
}

/**
 * The settings in the file. A missing or broken file is replaced by the newest valid backup, or by an empty mapping if there is none.
 * Throws if the file cannot be read.
 */
export function readSettings(file: MappingFile, logger?: Logger): Mapping {
  try {
    return file.read()
  } catch (error) {
    if (!(error instanceof NotAMappingError || isMissing(error))) throw error
    return recover(file, logger)
  }
}

/** Changes the settings in the file, of which a backup is kept (G41). Throws if the file cannot be read or written. */
export function changeSettings(file: MappingFile, change: (before: Mapping) => Mapping, logger?: Logger): void {
  file.replace(change(readSettings(file, logger)), () => {
    keepCopy(backupOf(file.path), readRegularFile(file.path))
  })
}

/** Copies the file over its newest backup, and returns both paths (G46). Throws if it cannot be read, or the copy not be written. */
export function backUp(directory: string): { from: string; to: string } {
  const from = resolve(configFile(directory))
  const to = backupOf(from)
  replaceFile(to, readRegularFile(from))
  return { from, to }
}

function backupOf(file: string): string {
  return `${file}.bak`
}

function recover(file: MappingFile, logger: Logger | undefined): Mapping {
  const broken = keepBroken(file.path)
  const backup = sixCopies(backupOf(file.path)).find(isMapping)
  file.write(backup === undefined ? Buffer.from('{}\n') : readRegularFile(backup))
  // A file that did not exist before is not logged.
  if (broken !== undefined || backup !== undefined) {
    logger?.warn('settings replaced', { file: file.path, from: backup ?? null, kept: broken ?? null })
  }
  return file.read()
}

/** Copies a broken file (G13). Returns the path of the copy, or undefined if there is no file. */
function keepBroken(file: string): string | undefined {
  let bytes: Buffer
  try {
    bytes = readRegularFile(file)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  const copy = `${file}.broken`
  keepCopy(copy, bytes)
  return copy
}

/** Writes the newest copy of a file, after it has renamed the earlier ones, the oldest first. Nothing moves if the disk is full. */
function keepCopy(newest: string, bytes: Uint8Array): void {
  const copies = sixCopies(newest)
  replaceFile(newest, bytes, () => {
    for (let i = copies.length - 1; i > 0; i--) renameIfAny(copies[i - 1] ?? '', copies[i] ?? '')
  })
}

function renameIfAny(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** The paths of the copies of a file, newest first. */
function sixCopies(first: string): string[] {
  return [first, ...[1, 2, 3, 4, 5].map((number) => `${first}.${number}`)]
}

function isMapping(path: string): boolean {
  try {
    new MappingFile(path).read()
    return true
  } catch {
    return false
  }
}
