import { isUtf8 } from 'node:buffer'
import { Collected } from '../collected.ts'

/** What the frames of a client say. A fault is answered with a close that has this code (CT 7.1). */
export type Received =
  | { type: 'message'; text: Uint8Array }
  | { type: 'ping'; payload: Uint8Array }
  | { type: 'pong' }
  | { type: 'close'; code: number | undefined }
  | { type: 'fault'; code: 1002 | 1003 | 1007 | 1009 }

const [continuation, text, binary, close, ping, pong] = [0x0, 0x1, 0x2, 0x8, 0x9, 0xa] as const

/** The frame whose payload is being read. */
interface Frame {
  opcode: number
  isFinal: boolean
  mask: Uint8Array
  length: number
  read: number
  /** The payload so far. Absent if nobody wants it. */
  payload: Collected | undefined
}

/**
 * Reads the frames of a client (RFC 6455 §5). A message may have this many bytes. A frame that would exceed them is rejected when
 * its head arrives, so no more is ever kept.
 */
export class FrameReader {
  readonly #maxBytes: number
  /** The head of the next frame, as far as it has arrived. */
  readonly #head: number[] = []
  #frame: Frame | undefined
  /** The message of which fragments have arrived, but not the last. */
  #message: Collected | undefined
  #isIgnoring = false
  /** Whether the framing is lost, so that the rest cannot be read. */
  #isLost = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** From now on, only a close matters: messages are skipped, whatever they contain. */
  ignoreMessages(): void {
    this.#isIgnoring = true
    this.#message = undefined
  }

  /** Takes the next bytes of the connection, and returns what they complete. They are unmasked in place. */
  feed(chunk: Uint8Array): Received[] {
    const received: Received[] = []
    for (let at = 0; at < chunk.length && !this.#isLost; ) {
      at = this.#frame === undefined ? this.#readHead(chunk, at, received) : this.#readPayload(this.#frame, chunk, at)
      if (this.#frame !== undefined && this.#frame.read === this.#frame.length) {
        const frame = this.#frame
        this.#frame = undefined
        this.#complete(frame, received)
      }
    }
    return received
  }

  /** Reads one byte of a head. The first two decide how long it is, and whether the frame is allowed. */
  #readHead(chunk: Uint8Array, at: number, received: Received[]): number {
    const head = this.#head
    head.push(chunk[at] ?? 0)
    const [first = 0, second = 0] = head
    if (head.length === 2 && this.#breaksProtocol(first, second)) this.#lose(received)
    const size = second & 0x7f
    const lengthBytes = size === 127 ? 8 : size === 126 ? 2 : 0
    if (head.length < 2 || head.length < 2 + lengthBytes + 4) return at + 1
    const length = lengthBytes === 0 ? size : head.slice(2, 2 + lengthBytes).reduce((sum, byte) => sum * 256 + byte, 0)
    // RFC 6455 §5.2: the first bit of a length of 64 bits is 0.
    if (lengthBytes === 8 && (head[2] ?? 0) > 0x7f) this.#lose(received)
    else this.#begin({ opcode: first & 0x0f, isFinal: first > 0x7f, mask: Uint8Array.from(head.slice(-4)), length }, received)
    head.length = 0
    return at + 1
  }

  /** RFC 6455 §5.1, §5.4, §5.5. */
  #breaksProtocol(first: number, second: number): boolean {
    const [opcode, isFinal, isMasked] = [first & 0x0f, first > 0x7f, second > 0x7f]
    if (!isMasked || (first & 0x70) !== 0) return true
    switch (opcode) {
      case continuation:
        return this.#message === undefined && !this.#isIgnoring
      case text:
      case binary:
        return this.#message !== undefined
      case close:
      case ping:
      case pong:
        return !isFinal || (second & 0x7f) > 125
      default:
        return true
    }
  }

  #lose(received: Received[]): void {
    this.#isLost = true
    if (!this.#isIgnoring) received.push({ type: 'fault', code: 1002 })
  }

  #begin(head: Omit<Frame, 'read' | 'payload'>, received: Received[]): void {
    const isControl = head.opcode >= close
    if (!isControl && !this.#isIgnoring) {
      const code = head.opcode === binary ? 1003 : head.length + (this.#message?.size ?? 0) > this.#maxBytes ? 1009 : undefined
      if (code !== undefined) this.#refuse(code, received)
    }
    if (!isControl && !this.#isIgnoring) this.#message ??= new Collected()
    this.#frame = { ...head, read: 0, payload: isControl ? new Collected() : this.#message }
  }

  /** Rejects a message. Its frames are skipped, because a close may follow. */
  #refuse(code: 1003 | 1007 | 1009, received: Received[]): void {
    this.ignoreMessages()
    received.push({ type: 'fault', code })
  }

  #readPayload(frame: Frame, chunk: Uint8Array, at: number): number {
    const part = chunk.subarray(at, at + frame.length - frame.read)
    if (frame.payload !== undefined) {
      const { mask, read } = frame
      for (let i = 0; i < part.length; i++) part[i] = (part[i] ?? 0) ^ (mask[(read + i) & 3] ?? 0)
      frame.payload.add(part)
    }
    frame.read += part.length
    return at + part.length
  }

  #complete({ opcode, isFinal, payload }: Frame, received: Received[]): void {
    switch (opcode) {
      case close:
        this.#isLost = true
        received.push(closeOf(payload?.bytes() ?? new Uint8Array()))
        break
      case ping:
        received.push({ type: 'ping', payload: payload?.bytes() ?? new Uint8Array() })
        break
      case pong:
        received.push({ type: 'pong' })
        break
      default:
        if (isFinal && this.#message !== undefined) this.#completeMessage(this.#message, received)
    }
  }

  #completeMessage(message: Collected, received: Received[]): void {
    this.#message = undefined
    const text = message.bytes()
    if (isUtf8(text)) received.push({ type: 'message', text })
    else this.#refuse(1007, received)
  }
}

/** A close, or the fault in it (S64). */
function closeOf(payload: Uint8Array): Received {
  if (payload.length === 0) return { type: 'close', code: undefined }
  const code = payload.length === 1 ? 0 : Buffer.from(payload).readUInt16BE()
  if (!isAllowed(code)) return { type: 'fault', code: 1002 }
  return isUtf8(payload.subarray(2)) ? { type: 'close', code } : { type: 'fault', code: 1007 }
}

/** The codes that may be sent: those that RFC 6455 §7.4 and its registry define, and those of libraries and applications. */
function isAllowed(code: number): boolean {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999)
}
