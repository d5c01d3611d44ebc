import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { isMissing } from '../error-code.ts'

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

/** The same. Throws if they are not UTF-8. */
export function readUtf8File(path: string): Buffer {
  const bytes = readRegularFile(path)
  if (!isUtf8(bytes)) throw new Error('the file is not UTF-8')
  return bytes
}

/** The file to which a link leads. A link to a path that does not exist, like any other path, stands for itself. */
export function linkedFile(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (isMissing(error)) return path
    throw error
  }
}
