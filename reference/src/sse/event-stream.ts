/** What waits for a reader that is slow is bounded by both; an event that exceeds either ends the stream (S16). */
export interface QueueLimits {
  events: number
  bytes: number
}

export const defaultLimits: QueueLimits = { events: 4096, bytes: 16 * 1024 * 1024 }

/**
 * Why a stream is over: its reader went away, its reader was too slow, or the server ended it. The first two count as a
 * disconnect of a pending stream (CT 5.1, S16).
 */
export type CloseReason =
  | { type: 'disconnected' }
  | { type: 'overflow'; events: number; bytes: number }
  | { type: 'ended' }

/** Ends the body of a stream whose reader is too slow, so that the connection is cut and not finished. */
export class SlowReaderError extends Error {
  override readonly name = 'SlowReaderError'
}

const encoder = new TextEncoder()

/**
 * The body of a server-sent event stream, fed by `send` and read by whoever owns the connection.
 *
 * The reader takes one event at a time and asks for the next when the last one has left for the socket. What it has
 * asked for and what waits behind that is the backlog, which is what the limits are about: it counts what has not been
 * written. Events leave in the order they were sent, and none is ever left out in the middle.
 */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #limits: QueueLimits
  readonly #onClose: (reason: CloseReason) => void
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #queue: Uint8Array[] = []
  /** The event that the reader has taken and not yet finished with. */
  #inFlight: Uint8Array | undefined
  #backlogBytes = 0
  /** The reader waits for an event. */
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
          this.#pull()
        },
        cancel: () => {
          this.#queue = []
          this.#close({ type: 'disconnected' })
        },
      },
      // Nothing is buffered inside the stream object, where it could not be counted.
      { highWaterMark: 0 },
    )
  }

  /** Queues an event. Does nothing once the stream is over. */
  send(frame: string): void {
    if (!this.#open) return
    const event = encoder.encode(frame)
    const events = this.#queue.length + (this.#inFlight === undefined ? 0 : 1) + 1
    const bytes = this.#backlogBytes + event.length
    if (events > this.#limits.events || bytes > this.#limits.bytes) {
      this.#queue = []
      this.#controller.error(new SlowReaderError('the reader of an event stream is too slow'))
      this.#close({ type: 'overflow', events, bytes })
      return
    }
    this.#backlogBytes = bytes
    this.#queue.push(event)
    if (this.#wanted) this.#next()
  }

  /** Ends the stream after what has been sent. */
  end(): void {
    if (!this.#open) return
    this.#close({ type: 'ended' })
    if (this.#wanted) this.#next()
  }

  /** The reader asks for more, so the event before this one is written. */
  #pull(): void {
    this.#backlogBytes -= this.#inFlight?.length ?? 0
    this.#inFlight = undefined
    this.#wanted = true
    if (this.#queue.length > 0 || !this.#open) this.#next()
  }

  #next(): void {
    this.#wanted = false
    this.#inFlight = this.#queue.shift()
    if (this.#inFlight === undefined) this.#controller.close()
    else this.#controller.enqueue(this.#inFlight)
  }

  #close(reason: CloseReason): void {
    if (!this.#open) return
    this.#open = false
    this.#onClose(reason)
  }
}
