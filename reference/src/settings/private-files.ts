import { chmodSync, closeSync, fchmodSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/*
 * What this server makes is for its user alone, whatever the umask says, and the modes of other directories (G13).
 */

const [ofFiles, ofDirectories] = [0o600, 0o700]

/** Opens a file to write, and makes it if it is not there. */
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
 * Makes a directory, and those above it that are missing. One that is there stays as it is. (Node's own way to do so goes on
 * for ever where the system says that a directory is missing which is there, as in /proc.)
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
