import { dataFrame } from '../sse/frame.ts'
import { startMetronome } from '../sse/metronome.ts'
import type { MessageEvent } from './events.ts'

/** The reason with which a reply ends when its client has gone (GA 7.5). */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError'
}

const pingIntervalMs = 500
/** What may wait for a slow client; then the engine waits. */
const maxWaiting = { events: 100, bytes: 8 * 1024 * 1024 }

/**
 * The body of one reply. Whoever sends more than its client takes has to wait; pings are left out then, since one that is
 * late says nothing.
 */
export class ReplyStream {
  readonly body: ReadableStream<Uint8Array>
  /** Aborted when the client has gone, or the reply is given up. */
  readonly signal: AbortSignal
  readonly #over = new AbortController()
  readonly #queue: Uint8Array[] = []
  #bytes = 0
  #controller!: ReadableStreamDefaultController<Uint8Array>
  /** The client waits for an event, so the queue is empty. */
  #wanted = false
  #ended = false
  #left = false
  #stopPings = (): void => undefined
  readonly #waiting = new Set<() => void>()

  constructor() {
    this.signal = this.#over.signal
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => {
          this.#wanted = true
          this.#next()
        },
        cancel: () => {
          this.#stopPings()
          this.#ended = true
          this.#left = true
          this.giveUp(new ClientGoneError('the client has gone'))
        },
      },
      { highWaterMark: 0 },
    )
  }

  /** Sends a ping at once, and one every half second until the end (GA 7.4). */
  startPings(): void {
    const ping = (): void => {
      if (!this.#isFull()) this.#push({ type: 'Ping' })
    }
    ping()
    this.#stopPings = startMetronome(pingIntervalMs, ping)
  }

  /** Ends what the reply is busy with, for this reason. */
  giveUp(reason: Error): void {
    this.#over.abort(reason)
    this.#wake()
  }

  /** Sends an event as soon as there is room for it. Rejects with the reason when the reply is over. */
  async send(event: MessageEvent): Promise<void> {
    while (this.#isFull() && !this.signal.aborted) await new Promise<void>((resolve) => this.#waiting.add(resolve))
    this.signal.throwIfAborted()
    this.#push(event)
  }

  /** Sends the last event of a reply that was given up, whether there is room for it or not. */
  sendLast(event: MessageEvent): void {
    this.#push(event)
    this.end()
  }

  /** Ends the stream after what has been sent. */
  end(): void {
    this.#stopPings()
    this.#ended = true
    this.#next()
  }

  #push(event: MessageEvent): void {
    if (this.#ended) return
    const bytes = dataFrame(event)
    this.#queue.push(bytes)
    this.#bytes += bytes.length
    this.#next()
  }

  #isFull(): boolean {
    return this.#queue.length >= maxWaiting.events || this.#bytes >= maxWaiting.bytes
  }

  /** Gives the client what it waits for, if it is there. */
  #next(): void {
    if (!this.#wanted) return
    const event = this.#queue.shift()
    if (event !== undefined) {
      this.#wanted = false
      this.#bytes -= event.length
      this.#controller.enqueue(event)
      this.#wake()
    } else if (this.#ended && !this.#left) {
      this.#wanted = false
      this.#controller.close()
    }
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }
}
