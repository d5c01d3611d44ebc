import type { Frame } from './frame.ts'

const encoder = new TextEncoder()

/**
 * What waits for a reader that is slow is bounded by both `events` and `bytes`; an event that exceeds either ends the
 * stream (S16).
 */
export interface QueueLimits {
  events: number
  bytes: number
}

export const defaultLimits: QueueLimits = { events: 65_536, bytes: 16 * 1024 * 1024 }

/**
 * Why a stream is over: its reader disconnected, its reader was too slow, or the server ended it. The first two count as a
 * disconnect of a pending stream (CT 5.1, S16).
 */
export type CloseReason =
  | { type: 'disconnected' }
  | { type: 'overflow'; events: number; bytes: number }
  | { type: 'ended' }

/** Aborts the body of a stream whose reader is too slow, so that the reader notices at once. */
export class SlowReaderError extends Error {
  override readonly name = 'SlowReaderError'
}

/**
 * The body of a server-sent event stream, fed by `send` and read by the owner of the connection.
 *
 * The reader takes one event at a time and asks for the next when the last one has left for the socket. What waits
 * behind that one is the queue, which the limits are about. Events leave in the order they were sent, and none is ever
 * left out in the middle: the event that is too much cuts the stream, and those that wait go with it.
 */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #limits: QueueLimits
  readonly #onClose: (reason: CloseReason) => void
  readonly #queue = new Queue()
  #controller!: ReadableStreamDefaultController<Uint8Array>
  /** The reader waits for an event, so the queue is empty. */
  #wanted = false
  #open = true

  /** Calls `onClose` once, at the moment the stream is over; nothing is accepted from then on. */
  constructor(onClose: (reason: CloseReason) => void, limits = defaultLimits) {
    this.#limits = limits
    this.#onClose = onClose
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => {
          this.#wanted = true
          if (this.#queue.length > 0 || !this.#open) this.#next()
        },
        cancel: () => {
          this.#queue.clear()
          this.#close({ type: 'disconnected' })
        },
      },
      // Nothing is buffered inside the stream object, where it could not be counted.
      { highWaterMark: 0 },
    )
  }

  /** Queues an event. Does nothing once the stream is over. */
  send(frame: Frame | string): void {
    if (!this.#open) return
    const event = typeof frame === 'string' ? encoder.encode(frame) : frame
    const events = this.#queue.length + 1
    const bytes = this.#queue.bytes + event.length
    // Any event fits into an empty queue; otherwise a large event would cut off even the fastest reader.
    if (events > 1 && (events > this.#limits.events || bytes > this.#limits.bytes)) {
      this.#queue.clear()
      this.#controller.error(new SlowReaderError('the reader of an event stream is too slow'))
      this.#close({ type: 'overflow', events, bytes })
      return
    }
    this.#queue.push(event)
    if (this.#wanted) this.#next()
  }

  /** Ends the stream after what has been sent. */
  end(): void {
    if (!this.#open) return
    this.#close({ type: 'ended' })
    if (this.#wanted) this.#next()
  }

  /** Gives a waiting reader the next event, or the end. */
  #next(): void {
    this.#wanted = false
    const event = this.#queue.shift()
    if (event !== undefined) {
      this.#controller.enqueue(event)
      return
    }
    this.#controller.close()
  }

  #close(reason: CloseReason): void {
    if (!this.#open) return
    this.#open = false
    this.#onClose(reason)
  }
}

/** Events in the order they came. Array.shift would move all the others, and tens of thousands may wait. */
class Queue {
  #arriving: Uint8Array[] = []
  /** The oldest events, the first of all at the end. */
  #leaving: Uint8Array[] = []
  bytes = 0

  get length(): number {
    return this.#leaving.length + this.#arriving.length
  }

  push(event: Uint8Array): void {
    this.#arriving.push(event)
    this.bytes += event.length
  }

  shift(): Uint8Array | undefined {
    if (this.#leaving.length === 0) {
      this.#leaving = this.#arriving.reverse()
      this.#arriving = []
    }
    const event = this.#leaving.pop()
    this.bytes -= event?.length ?? 0
    return event
  }

  clear(): void {
    this.#arriving = []
    this.#leaving = []
    this.bytes = 0
  }
}
