import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/** Flags for opening a file, so that opening a FIFO does not block. */
export const nonBlockingRead = constants.O_RDONLY | constants.O_NONBLOCK

/** A path is not a regular file, or the file is too large. */
export class NotRegularFileError extends Error {
  override readonly name = 'NotRegularFileError'
}

/** The most bytes of a file with settings, secrets, permissions (G13) or a recipe (G22, G23). */
export const maxFileBytes = 2 * 1024 * 1024

/** The bytes of a regular file of at most this size. Links are followed. */
export function readRegularFile(path: string, maxBytes = maxFileBytes): Buffer {
  const file = openSync(path, nonBlockingRead)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile() || stat.size > maxBytes) throw new NotRegularFileError(`not a plain file of at most ${maxBytes} bytes`)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}
