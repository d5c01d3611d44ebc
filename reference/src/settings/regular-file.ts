import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { errorCode, isMissing } from '../error-code.ts'

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
    const bytes = stat.isFile() && stat.size <= maxBytes ? readUpTo(maxBytes, file, stat.size) : undefined
    if (bytes === undefined) throw new NotRegularFileError(`not a plain file of at most ${maxBytes} bytes`)
    return bytes
  } finally {
    closeSync(file)
  }
}

/** The bytes of a file, or undefined if there are more than `max`: it may grow while it is read, and those of /proc have no size. */
function readUpTo(max: number, file: number, size: number): Buffer | undefined {
  let bytes = Buffer.allocUnsafe(size + spareBytes)
  for (let length = 0; length <= max; ) {
    if (length === bytes.length) bytes = Buffer.concat([bytes], 2 * length)
    const more = readSync(file, bytes, length, bytes.length - length, null)
    if (more === 0) return bytes.subarray(0, length)
    length += more
  }
  return undefined
}

/** The end of a file is seen without a larger buffer. */
const spareBytes = 512

/** The same. Throws if they are not UTF-8. */
export function readUtf8File(path: string): Buffer {
  const bytes = readRegularFile(path)
  if (!isUtf8(bytes)) throw new Error('the file is not UTF-8')
  return bytes
}

/** The file to which a link leads. A link that leads nowhere, or in a circle, stands for itself, like any other path. */
export function linkedFile(path: string): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (isMissing(error) || errorCode(error) === 'ELOOP') return path
    throw error
  }
}
