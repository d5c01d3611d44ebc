import { setImmediate as nextTurn } from 'node:timers/promises'
import { Zip, ZipDeflate } from 'fflate'

/** A zip archive in memory. It is built in small pieces, so that other requests can run in between. */
export class Archive {
  readonly #zip: Zip
  readonly #chunks: Uint8Array[] = []
  readonly #maxBytes: number
  #bytes = 0

  /** `maxBytes` limits the size of all entries together. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#zip = new Zip((error, chunk) => {
      if (error) throw error
      this.#chunks.push(chunk)
    })
  }

  /** Adds an entry. Rejects if the archive becomes too large, or the content cannot be read; the archive is then unusable. */
  async add(name: string, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const entry = new ZipDeflate(name)
    this.#zip.add(entry)
    for await (const piece of content) {
      this.#bytes += piece.length
      if (this.#bytes > this.#maxBytes) throw new Error('there is too much')
      for (let at = 0; at < piece.length; at += pieceBytes) {
        entry.push(piece.subarray(at, at + pieceBytes))
        await nextTurn()
      }
    }
    entry.push(new Uint8Array(), true)
  }

  end(): Buffer<ArrayBuffer> {
    this.#zip.end()
    return Buffer.concat(this.#chunks)
  }
}

/** How much is deflated at a time. This takes a few milliseconds. */
const pieceBytes = 64 * 1024
