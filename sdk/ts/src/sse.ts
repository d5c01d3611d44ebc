import { ClientToolsError } from './errors.ts'
import { maxBytes } from './json.ts'

export interface ServerEvent {
  /** Empty if the event has no name. */
  type: string
  data: string
}

const [lf, cr] = [10, 13]

/**
 * Reads the chunks of a body. The body is cancelled when the caller stops before its end, and when the signal is aborted. Node's
 * `fetch` cannot be relied on for the latter: after a garbage collection, its signal no longer reaches the body.
 */
export async function* chunksOf(body: ReadableStream<Uint8Array> | null, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  if (!body) return
  const reader = body.getReader()
  const cancel = (): void => {
    reader.cancel(signal.reason).catch(() => undefined) // a body that has failed cannot be cancelled, and need not be
  }
  signal.addEventListener('abort', cancel)
  try {
    for (;;) {
      signal.throwIfAborted()
      const { done, value } = await reader.read()
      if (done) break
      yield value
    }
    signal.throwIfAborted()
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}

/** Reads an event stream (WHATWG HTML 9.2.6). An event that the end of the stream cuts off is dropped. */
export async function* readEvents(
  body: ReadableStream<Uint8Array> | null, signal: AbortSignal,
): AsyncGenerator<ServerEvent, void, undefined> {
  const parser = new EventParser()
  for await (const chunk of chunksOf(body, signal)) yield* parser.push(chunk)
}

/** Splits bytes into events. Throws when one is larger than 16 MiB. */
export class EventParser {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  /** The pieces of a line that has not ended yet. */
  #pieces: Uint8Array[] = []
  /** The bytes of an event that has not ended yet. */
  #bytes = 0
  #firstLine = true
  #afterCr = false
  #type = ''
  #data: string[] = []

  #add(piece: Uint8Array): void {
    this.#bytes += piece.length
    if (this.#bytes > maxBytes) throw new ClientToolsError('An event is larger than 16 MiB')
    this.#pieces.push(piece)
  }

  *push(chunk: Uint8Array): Generator<ServerEvent, void, undefined> {
    let start = 0
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i]
      if (byte === lf && this.#afterCr) start = i + 1
      else if (byte === lf || byte === cr) {
        const event = this.#line(chunk.subarray(start, i))
        start = i + 1
        if (event) yield event
      }
      this.#afterCr = byte === cr
    }
    if (start < chunk.length) this.#add(chunk.subarray(start))
  }

  /** Takes the end of a line. Returns the event if the line is empty and there is data. */
  #line(end: Uint8Array): ServerEvent | undefined {
    this.#add(end)
    let line = ''
    for (const piece of this.#pieces) line += this.#decoder.decode(piece, { stream: true })
    line += this.#decoder.decode()
    this.#pieces = []
    if (this.#firstLine) line = line.replace(/^\uFEFF/, '')
    this.#firstLine = false
    if (line !== '') {
      this.#field(line)
      return undefined
    }
    const event = this.#data.length > 0 ? { type: this.#type, data: this.#data.join('\n') } : undefined
    this.#bytes = 0
    this.#type = ''
    this.#data = []
    return event
  }

  #field(line: string): void {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'event') this.#type = value
    else if (name === 'data') this.#data.push(value)
  }
}
