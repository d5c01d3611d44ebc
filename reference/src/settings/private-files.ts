import { randomUUID } from 'node:crypto'
import { chmodSync, closeSync, fchmodSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/*
 * Files and directories that this server creates are accessible only to its user, whatever the umask and the modes of other
 * directories (G13).
 */

const [ofFiles, ofDirectories] = [0o600, 0o700]

/** Opens a file for writing, and creates it if it does not exist. */
export function openPrivate(path: string, flags: string): number {
  const file = openSync(path, flags, ofFiles)
  try {
    fchmodSync(file, ofFiles)
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/** Replaces a file, or creates it. A link is replaced too. Readers see either the old text or the new one, but never a part of it. */
export function replaceFile(path: string, text: string | Uint8Array): void {
  makeDirectory(dirname(path))
  const temporary = join(dirname(path), `.${randomUUID()}.tmp`)
  try {
    const file = openPrivate(temporary, 'wx')
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

/**
 * Creates a directory and its missing parents. An existing directory stays unchanged. (Node's recursive mkdir never ends if the
 * system calls an existing directory missing, as in /proc.)
 */
export function makeDirectory(path: string): void {
  if (isDirectory(path)) return
  const above = dirname(path)
  if (above !== path) makeDirectory(above)
  try {
    mkdirSync(path, { mode: ofDirectories })
  } catch (error) {
    if (isDirectory(path)) return // another process was faster
    throw error
  }
  chmodSync(path, ofDirectories)
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
