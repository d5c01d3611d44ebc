/** Collects small chunks in one buffer. Each chunk by itself takes more memory than its bytes, and there may be millions. */
export class Collected {
  size = 0
  readonly #chunks: Uint8Array[] = []
  /** The last buffer; this many of its bytes are in use. */
  #block = Buffer.alloc(0)
  #used = 0

  add(chunk: Uint8Array): void {
    this.size += chunk.length
    if (chunk.length >= blockSize / 4) {
      this.#close()
      this.#chunks.push(chunk)
      return
    }
    if (this.#used + chunk.length > this.#block.length) {
      this.#close()
      this.#block = Buffer.allocUnsafeSlow(blockSize)
    }
    this.#block.set(chunk, this.#used)
    this.#used += chunk.length
  }

  bytes(): Uint8Array {
    this.#close()
    return Buffer.concat(this.#chunks, this.size)
  }

  #close(): void {
    if (this.#used > 0) this.#chunks.push(this.#block.subarray(0, this.#used))
    this.#block = Buffer.alloc(0)
    this.#used = 0
  }
}

const blockSize = 64 * 1024
