import type { Frame } from './frame.ts'

const encoder = new TextEncoder()

/** Limits on the events that wait for a slow reader. An event that exceeds either limit ends the stream (S16). */
export interface QueueLimits {
  events: number
  bytes: number
}

export const defaultLimits: QueueLimits = { events: 65_536, bytes: 16 * 1024 * 1024 }

/**
 * Why a stream ended: its reader disconnected, its reader was too slow, or the server ended it. For a pending stream, the first
 * two count as a disconnect of the client (CT 5.1, S16).
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
 * The body of a stream of server-sent events. `send` fills it, and the owner of the connection reads it.
 *
 * The reader takes one event at a time, and asks for the next when the previous one has gone to the socket. The events that wait
 * are the queue, to which the limits apply. Events leave in the order in which they were sent, and none is skipped: an event that
 * exceeds a limit ends the stream and discards the queue.
 */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #limits: QueueLimits
  readonly #onClose: (reason: CloseReason) => void
  readonly #queue = new Queue()
  #controller!: ReadableStreamDefaultController<Uint8Array>
  /** True while the reader waits for an event; the queue is then empty. */
  #wanted = false
  #open = true

  /** Calls `onClose` once, at the moment the stream ends. Later events are ignored. */
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
      // The stream object itself must not buffer events, because they would not count.
      { highWaterMark: 0 },
    )
  }

  /** Queues an event. Does nothing if the stream has ended. */
  send(frame: Frame | string): void {
    if (!this.#open) return
    const event = typeof frame === 'string' ? encoder.encode(frame) : frame
    const events = this.#queue.length + 1
    const bytes = this.#queue.bytes + event.length
    // An empty queue accepts any event. Otherwise a large event would cut off even the fastest reader.
    if (events > 1 && (events > this.#limits.events || bytes > this.#limits.bytes)) {
      this.#queue.clear()
      this.#controller.error(new SlowReaderError('the reader of an event stream is too slow'))
      this.#close({ type: 'overflow', events, bytes })
      return
    }
    this.#queue.push(event)
    if (this.#wanted) this.#next()
  }

  /** Ends the stream after the queued events. */
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

/** Events in the order in which they arrived. Array.shift would move all the others, and tens of thousands may wait. */
class Queue {
  #arriving: Uint8Array[] = []
  /** The oldest events in reverse order, so that the next one is at the end. */
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
