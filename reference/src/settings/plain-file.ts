import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/** To open a FIFO would wait for somebody who writes to it. */
export const readPlainly = constants.O_RDONLY | constants.O_NONBLOCK

/** Says that something is no plain file, or too large. */
export class NotPlainError extends Error {
  override readonly name = 'NotPlainError'
}

/** How large files of settings, secrets, permissions (G13) and recipes (G22, G23) may be. */
export const maxFileBytes = 2 * 1024 * 1024

/** The bytes of a plain file, or of one that a link leads to, if they are not more than this. */
export function readPlainFile(path: string, maxBytes = maxFileBytes): Buffer {
  const file = openSync(path, readPlainly)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile() || stat.size > maxBytes) throw new NotPlainError(`not a plain file of at most ${maxBytes} bytes`)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}
