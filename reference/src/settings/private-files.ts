import { chmodSync, closeSync, fchmodSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

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
