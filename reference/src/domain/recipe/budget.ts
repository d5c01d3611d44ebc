import { LimitError } from './template-error.ts'

/** How deep expressions, tags and files may lie in one another (G22). */
export const maxLevels = 200

const maxPieces = 100_000
const maxBytes = 10 * 1024 * 1024
const maxFiles = 100
const maxLooked = 10_000_000

/** What the texts of one recipe may cost together (G22). Each method counts, and throws a LimitError when it is too much. */
export class Budget {
  #pieces = 0
  #bytes = 0
  #files = 0
  #looked = 0

  /** A part that is written, a turn of a loop, or a word or sign of an expression that is read. */
  readonly piece = (): void => {
    if (++this.#pieces > maxPieces) throw new LimitError('the template has too many pieces')
  }

  /** A text that is written. */
  write(text: string): string {
    this.#bytes += Buffer.byteLength(text)
    if (this.#bytes > maxBytes) throw new LimitError('the text is too large')
    return text
  }

  file(): void {
    if (++this.#files > maxFiles) throw new LimitError('the template reads too many files')
  }

  /** Steps of expressions, and the bytes and items that they look at. */
  readonly look = (size: number): void => {
    this.#looked += size
    if (this.#looked > maxLooked) throw new LimitError('the expressions look at too much')
  }
}
