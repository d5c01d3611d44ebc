import { randomUUID } from 'node:crypto'
import { chmodSync, closeSync, fchmodSync, fsyncSync, lstatSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { linkedFile } from './regular-file.ts'

/*
 * Files and directories that this server creates are accessible only to its user, whatever the umask and the modes of other
 * directories (G13).
 */

const [ofFiles, ofDirectories] = [0o600, 0o700]

/** After this time, no write of a running server still needs its temporary file. */
const leftMs = 3_600_000

/** Removes the temporary files that killed servers have left in a directory long ago. They may contain secrets. */
export function removeLeftFiles(directory: string): void {
  try {
    for (const name of readdirSync(directory)) {
      if (!/^\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/.test(name)) continue
      const path = join(directory, name)
      if (Date.now() - lstatSync(path).mtimeMs > leftMs) rmSync(path)
    }
  } catch {
    // They stay until the next time.
  }
}

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

/**
 * Replaces a file, or creates it. A link is replaced too. Readers see either the old text or the new one, but never a part of it.
 * `beforeRename` runs when the new text is on the disk; if it throws, the file stays as it is.
 */
export function replaceFile(path: string, text: string | Uint8Array, beforeRename?: () => void): void {
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
    beforeRename?.()
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true }) // it may contain secrets
    throw error
  }
}

/** The same, but a link stays: the file to which it leads is replaced (G41). Removes what earlier writes have left there. */
export function replaceLinkedFile(path: string, text: string | Uint8Array, beforeRename?: () => void): void {
  const file = linkedFile(path)
  removeLeftFiles(dirname(file))
  replaceFile(file, text, beforeRename)
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
