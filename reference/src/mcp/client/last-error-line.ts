const maxLineBytes = 16 * 1024
const maxCharacters = 200
const LF = 0x0a

/** The last line that a process wrote to its standard error, for the log (S48). */
export class LastErrorLine {
  readonly #secrets: readonly string[]
  #line = ''
  #bytes: Buffer = Buffer.alloc(0)

  /** Replaces `secrets` by `***`. */
  constructor(secrets: readonly string[]) {
    const lines = secrets.flatMap((secret) => [secret, ...secret.split(/\r?\n/)])
    this.#secrets = lines.filter((line) => line !== '').sort((a, b) => b.length - a.length)
  }

  add(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      this.#append(chunk.subarray(start, end))
      this.#endLine()
      start = end + 1
    }
    this.#append(chunk.subarray(start))
  }

  /** Empty if the process wrote nothing. */
  text(): string {
    this.#endLine()
    const told = this.#secrets.reduce((line, secret) => line.replaceAll(secret, '***'), this.#line)
    return Array.from(told).slice(0, maxCharacters).join('')
  }

  /** Keeps only the beginning of a long line. */
  #append(part: Buffer): void {
    const room = maxLineBytes - this.#bytes.length
    if (room > 0) this.#bytes = Buffer.concat([this.#bytes, part.subarray(0, room)])
  }

  #endLine(): void {
    const line = this.#bytes.toString().trim()
    if (line !== '') this.#line = line
    this.#bytes = Buffer.alloc(0)
  }
}
