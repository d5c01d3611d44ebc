import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/** Flags to open a file: opening a FIFO does not block. */
export const nonBlockingRead = constants.O_RDONLY | constants.O_NONBLOCK

/** Something is not a regular file, or too large. */
export class NotRegularFileError extends Error {
  override readonly name = 'NotRegularFileError'
}

/** How large files of settings, secrets, permissions (G13) and recipes (G22, G23) may be. */
export const maxFileBytes = 2 * 1024 * 1024

/** The bytes of a regular file, also behind a link, of at most this size. */
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
