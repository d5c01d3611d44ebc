import { LimitError } from './template-error.ts'

/** How deeply expressions, tags and files may be nested (G22). */
export const maxLevels = 200

const maxPieces = 100_000
const maxBytes = 10 * 1024 * 1024
const maxFiles = 100
const maxLooked = 10_000_000

/** The cost limits that the texts of one recipe share (G22). Each method adds a cost, and throws a LimitError above the limit. */
export class Budget {
  #pieces = 0
  #bytes = 0
  #files = 0
  #looked = 0

  /** Counts a template part that is written, an iteration of a loop, or a token of an expression. */
  readonly piece = (): void => {
    if (++this.#pieces > maxPieces) throw new LimitError('the template has too many pieces')
  }

  /** Counts a text that is written, and returns it. */
  write(text: string): string {
    this.#bytes += Buffer.byteLength(text)
    if (this.#bytes > maxBytes) throw new LimitError('the text is too large')
    return text
  }

  file(): void {
    if (++this.#files > maxFiles) throw new LimitError('the template reads too many files')
  }

  /** Counts steps of expressions, and the bytes and items that they examine. */
  readonly look = (size: number): void => {
    this.#looked += size
    if (this.#looked > maxLooked) throw new LimitError('the expressions look at too much')
  }
}
