/** A server has sent a message that is too large or invalid (X12). */
export class ProtocolViolationError extends Error {
  override readonly name = 'ProtocolViolationError'
}

/** The most bytes of a server's message (X12). */
export const maxMessageBytes = 16 * 1024 * 1024
/** The most bytes of an event in addition to its data. */
const maxOtherBytes = 64 * 1024

const [lineFeed, carriageReturn, colon, blank] = [0x0a, 0x0d, 0x3a, 0x20]

/**
 * Replaces the data of each message in an event stream (WHATWG HTML §9.2). The stream ends with the error of `replace`, or with a
 * ProtocolViolationError at a message that is too large.
 */
export async function* replacedMessages(
  chunks: AsyncIterable<Uint8Array>,
  replace: (data: Uint8Array) => string,
): AsyncGenerator<Uint8Array> {
  let event = new PartialEvent()
  for await (const line of eventLines(chunks)) {
    if (line.length > 0) {
      event.add(line)
    } else {
      yield Buffer.from(event.text(replace))
      event = new PartialEvent()
    }
  }
}

/** An event that has arrived in part. */
class PartialEvent {
  readonly #data: Buffer[] = []
  readonly #others: string[] = []
  #type = ''
  #bytes = 0

  add(line: Buffer): void {
    this.#bytes += line.length
    if (this.#bytes > maxMessageBytes + maxOtherBytes) throw new ProtocolViolationError('a message is too large')
    const [name, value] = fieldOf(line)
    if (name === 'data') {
      this.#data.push(value)
      return
    }
    if (name === 'event') this.#type = value.toString()
    this.#others.push(`${line.toString()}\n`)
  }

  /** The text of the event. If it is a message, its data is replaced. */
  text(replace: (data: Uint8Array) => string): string {
    const data = Buffer.concat(this.#data.flatMap((line, i) => (i === 0 ? [line] : [Buffer.from('\n'), line])))
    if (data.length > maxMessageBytes) throw new ProtocolViolationError('a message is too large')
    const isMessage = data.length > 0 && (this.#type === '' || this.#type === 'message')
    const lines = isMessage ? [replace(data)] : this.#data.map((line) => line.toString())
    return [...this.#others, ...lines.map((line) => `data: ${line}\n`), '\n'].join('')
  }
}

function fieldOf(line: Buffer): [name: string, value: Buffer] {
  const end = line.indexOf(colon)
  if (end === -1) return [line.toString(), Buffer.alloc(0)]
  return [line.subarray(0, end).toString(), line.subarray(line[end + 1] === blank ? end + 2 : end + 1)]
}

/** The lines of a stream. They end in a line feed, a carriage return, or both. Bytes after the last line end are not a line. */
async function* eventLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let partBytes = 0
  let afterReturn = false
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let start = 0
    for (let at = endOfLine(bytes, 0); at !== -1; at = endOfLine(bytes, start)) {
      const isSecondHalf = bytes[at] === lineFeed && at === start && afterReturn
      if (!isSecondHalf) yield Buffer.concat([...parts, bytes.subarray(start, at)])
      parts = []
      partBytes = 0
      start = at + 1
      afterReturn = bytes[at] === carriageReturn
    }
    if (start < bytes.length) afterReturn = false
    parts.push(bytes.subarray(start))
    partBytes += bytes.length - start
    if (partBytes > maxMessageBytes + maxOtherBytes) throw new ProtocolViolationError('a message is too large')
  }
}

/** The index of the next carriage return or line feed, or -1. */
function endOfLine(bytes: Buffer, from: number): number {
  const feed = bytes.indexOf(lineFeed, from)
  // The search stops at the line feed, so that no byte is searched twice.
  const before = (feed === -1 ? bytes : bytes.subarray(0, feed)).indexOf(carriageReturn, from)
  return before === -1 ? feed : before
}
