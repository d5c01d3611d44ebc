import { dataFrame } from '../../httpapi/sse/frame.ts'
import { startTicker } from '../../httpapi/sse/ticker.ts'
import type { MessageEvent } from '#contract'

/** The reason of a reply that ends because its client disconnected (GA 7.5). */
export class ClientDisconnectedError extends Error {
  override readonly name = 'ClientDisconnectedError'
}

const pingIntervalMs = 500
/** How much may wait for a slow client before the engine has to wait. */
const maxWaiting = { events: 100, bytes: 8 * 1024 * 1024 }

/**
 * The body of one reply. `send` waits while the client reads too slowly. Pings are then dropped, because a late ping is useless.
 */
export class ReplyStream {
  readonly body: ReadableStream<Uint8Array>
  /** Aborted when the client disconnects, or the reply is given up. */
  readonly signal: AbortSignal
  readonly #over = new AbortController()
  readonly #queue: Uint8Array[] = []
  #bytes = 0
  #controller!: ReadableStreamDefaultController<Uint8Array>
  /** True while the client waits for an event; the queue is then empty. */
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
          this.giveUp(new ClientDisconnectedError('the client has gone'))
        },
      },
      { highWaterMark: 0 },
    )
  }

  /** Sends a ping at once, and then every half second until the end (GA 7.4). */
  startPings(): void {
    const ping = (): void => {
      if (!this.#isFull()) this.#push({ type: 'Ping' })
    }
    ping()
    this.#stopPings = startTicker(pingIntervalMs, ping)
  }

  /** Aborts the reply with this reason. */
  giveUp(reason: Error): void {
    this.#over.abort(reason)
    this.#wake()
  }

  /** Sends an event as soon as there is room for it. Rejects with the abort reason if the reply is over. */
  async send(event: MessageEvent): Promise<void> {
    while (this.#isFull() && !this.signal.aborted) await new Promise<void>((resolve) => this.#waiting.add(resolve))
    this.signal.throwIfAborted()
    this.#push(event)
  }

  /** Sends the last event of a reply that was given up, even if there is no room for it. */
  sendLast(event: MessageEvent): void {
    this.#push(event)
    this.end()
  }

  /** Ends the stream after the queued events. */
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

  /** Gives the next event to a waiting client, if there is one. */
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
