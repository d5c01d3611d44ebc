import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../error-code.ts'
import type { Logger } from '../log.ts'
import { readRegularFile } from './regular-file.ts'
import { NotAMappingError, readMapping, replaceFile, type Mapping } from './yaml-file.ts'

/*
 * The file config.yaml (GA 1.4, 10). This server only repairs it. Other programs change it, and keep backups.
 *
 * All functions are synchronous, so no other request of this process runs between reading and writing.
 */

/**
 * The settings in the file in a directory. A missing or broken file is replaced by the newest valid backup, or by an empty mapping
 * if there is none. Throws if the file cannot be read.
 */
export function readSettings(directory: string, logger?: Logger): Mapping {
  const file = join(directory, 'config.yaml')
  try {
    return readMapping(file)
  } catch (error) {
    if (!(error instanceof NotAMappingError || isMissing(error))) throw error
    return recover(file, logger)
  }
}

function recover(file: string, logger: Logger | undefined): Mapping {
  const broken = keepBroken(file)
  const backup = sixCopies(`${file}.bak`).find(isMapping)
  const temporary = file.replace(/\.yaml$/, '.tmp')
  replaceFile(file, temporary, backup === undefined ? '{}\n' : readRegularFile(backup))
  // A file that did not exist before is not logged.
  if (broken !== undefined || backup !== undefined) {
    logger?.warn('settings replaced', { file, from: backup ?? null, kept: broken ?? null })
  }
  return readMapping(file)
}

/**
 * Copies a broken file, and renames the earlier copies (G13). Returns the path of the copy, or undefined if there is no file.
 */
function keepBroken(file: string): string | undefined {
  let bytes: Buffer
  try {
    bytes = readRegularFile(file)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  const first = `${file}.broken`
  const copies = sixCopies(first)
  for (let i = copies.length - 1; i > 0; i--) {
    const [newer, older] = [copies[i - 1] ?? '', copies[i] ?? '']
    if (existsSync(newer)) renameSync(newer, older)
  }
  replaceFile(first, `${first}.tmp`, bytes)
  return first
}

/** The paths of the copies of a file, newest first. */
function sixCopies(first: string): string[] {
  return [first, ...[1, 2, 3, 4, 5].map((number) => `${first}.${number}`)]
}

function isMapping(path: string): boolean {
  try {
    readMapping(path)
    return true
  } catch {
    return false
  }
}
