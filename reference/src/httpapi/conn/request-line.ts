import type { Socket } from 'node:net'
import { percent } from '../url-path.ts'

/**
 * Accepts raw UTF-8 in a request target (CT 3.3). Node's HTTP parser rejects a request line with a byte above 0x7F. So such bytes
 * are percent-encoded before the parser sees them; all other bytes stay unchanged.
 *
 * This depends on two properties of node:http, and http-server.test.ts fails if either changes. A `data` listener moves the
 * parser from the socket's handle to its stream. All data on that stream has passed through `push`.
 */
export function acceptRawTargets(socket: Socket): RawInput {
  const escaper = new RequestLineEscaper()
  const push = socket.push.bind(socket)
  socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
    const fed = push(chunk instanceof Uint8Array ? escaper.feed(chunk) : chunk, encoding)
    if (escaper.heldBytes > maxHeld) socket.destroy()
    return fed
  }
  socket.on('data', () => {
    // The parser reads the stream.
  })
  return {
    resume: () => {
      for (const chunk of escaper.resume()) push(escaper.feed(chunk))
    },
    takeOver: () => {
      socket.removeAllListeners('data')
      return escaper.giveUp()
    },
  }
}

/**
 * The bytes of a connection before the parser. After a request that asks for another protocol they are held back, because they
 * may belong to that protocol (RFC 9110 §7.8).
 */
export interface RawInput {
  /** The connection stays with HTTP. Does nothing if no bytes are held back. */
  resume: () => void
  /** Ends HTTP on the connection. Returns the bytes that were held back; later ones are events of the socket. */
  takeOver: () => Uint8Array[]
}

/** How many bytes are held back. A client waits for the response before it sends anything (RFC 6455 §4.1). */
const maxHeld = 64 * 1024

/**
 * The part of a message to which the next byte belongs. `held`: the request before it asks for another protocol. `opaque`: the
 * framing can no longer be followed, so nothing more is changed.
 */
type State =
  | { at: 'request-line' }
  | { at: 'headers'; length: number; chunked: boolean }
  | { at: 'body'; left: number }
  | { at: 'chunk-size' }
  | { at: 'chunk'; left: number }
  | { at: 'trailers' }
  | { at: 'held' }
  | { at: 'opaque' }

/** The states in which lines are read. */
type Lines = Exclude<State, { left: number } | { at: 'opaque' | 'held' }>

/** Longer lines go to the parser unchanged, which rejects them. */
const maxLine = 1 << 20

const LF = 0x0a

/**
 * Follows the framing of the requests on one connection (RFC 9112 §2, §6, §7.1) to find the request lines. It is strict: the
 * parser rejects all that this class cannot follow.
 */
export class RequestLineEscaper {
  #state: State = { at: 'request-line' }
  /** The current line so far, one character per byte. */
  #line = ''
  /** Whether the current message asks for another protocol. */
  #asksUpgrade = false
  #held: Uint8Array[] = []
  heldBytes = 0

  /** Takes the bytes that are held back, and follows the framing again. */
  resume(): Uint8Array[] {
    if (this.#state.at === 'held') this.#state = { at: 'request-line' }
    this.heldBytes = 0
    return this.#held.splice(0)
  }

  /** Takes the bytes that are held back, and changes nothing any more. */
  giveUp(): Uint8Array[] {
    this.#state = { at: 'opaque' }
    return this.#held.splice(0)
  }

  /** Returns the next bytes of the connection, with bytes above 0x7F in request lines percent-encoded. */
  feed(chunk: Uint8Array): Uint8Array {
    const parts: Uint8Array[] = []
    for (let i = 0; i < chunk.length; ) {
      const start = i
      const state = this.#state
      if (state.at === 'opaque') {
        i = chunk.length
        parts.push(chunk.subarray(start))
      } else if (state.at === 'held') {
        i = chunk.length
        this.#held.push(chunk.subarray(start))
        this.heldBytes += i - start
      } else if (state.at === 'body' || state.at === 'chunk') {
        i = Math.min(chunk.length, start + state.left)
        this.#skip(state, i - start)
        parts.push(chunk.subarray(start, i))
      } else {
        const end = chunk.indexOf(LF, start)
        i = end === -1 ? chunk.length : end + 1
        const piece = chunk.subarray(start, i)
        parts.push(state.at === 'request-line' ? escapeHighBytes(piece) : piece)
        this.#take(state, piece, end !== -1)
      }
    }
    return parts.length === 1 ? (parts[0] ?? chunk) : Buffer.concat(parts)
  }

  #skip(state: Extract<State, { left: number }>, bytes: number): void {
    state.left -= bytes
    if (state.left > 0) return
    if (state.at === 'body') this.#nextMessage()
    else this.#state = { at: 'chunk-size' }
  }

  #take(state: Lines, piece: Uint8Array, complete: boolean): void {
    this.#line += Buffer.from(piece).toString('latin1')
    if (this.#line.length > maxLine) this.#state = { at: 'opaque' }
    else if (complete) {
      const line = this.#line.replace(/\r?\n$/, '')
      this.#line = ''
      if (state.at === 'headers' && /^upgrade:/i.test(line)) this.#asksUpgrade = true
      const after = next(state, line)
      if (after.at === 'request-line' && state.at !== 'request-line') this.#nextMessage()
      else this.#state = after
    }
  }

  /** A message is complete. Node's parser drops what follows in the same chunk if the message asks for another protocol. */
  #nextMessage(): void {
    this.#state = { at: this.#asksUpgrade ? 'held' : 'request-line' }
    this.#asksUpgrade = false
  }
}

/** The state after a complete line. */
function next(state: Lines, line: string): State {
  switch (state.at) {
    case 'request-line':
      // Empty lines before a request line are skipped (RFC 9112 §2.2).
      return line === '' ? state : { at: 'headers', length: 0, chunked: false }
    case 'headers':
      return line === '' ? bodyOf(state) : header(state, line)
    case 'chunk-size':
      return chunkOf(line)
    case 'trailers':
      return line === '' ? { at: 'request-line' } : state
    default:
      return state satisfies never
  }
}

type Headers = Extract<State, { at: 'headers' }>

function header(state: Headers, line: string): State {
  const colon = line.indexOf(':')
  const value = line.slice(colon + 1).trim()
  switch (line.slice(0, colon).toLowerCase()) {
    case 'content-length':
      return /^\d+$/.test(value) ? { ...state, length: Number(value) } : { at: 'opaque' }
    case 'transfer-encoding':
      return /(?:^|,)[ \t]*chunked$/i.test(value) ? { ...state, chunked: true } : { at: 'opaque' }
    default:
      return state
  }
}

function bodyOf({ length, chunked }: Headers): State {
  if (chunked) return { at: 'chunk-size' }
  return length > 0 ? { at: 'body', left: length } : { at: 'request-line' }
}

function chunkOf(line: string): State {
  const size = /^[0-9a-f]+/i.exec(line)?.[0]
  if (size === undefined) return { at: 'opaque' }
  const length = parseInt(size, 16)
  // The line break after the data belongs to the chunk.
  return length === 0 ? { at: 'trailers' } : { at: 'chunk', left: length + 2 }
}

function escapeHighBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.every((byte) => byte < 0x80)) return bytes
  const line = Buffer.from(bytes).toString('latin1')
  return Buffer.from(line.replace(/[\x80-\xff]/g, (byte) => percent(byte.charCodeAt(0))), 'latin1')
}
