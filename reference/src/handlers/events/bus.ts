import type { BusEvent } from '#contract'

/** Receives an event and the directory in which it was published. Must not throw. */
type Listener = (event: BusEvent, directory: string) => void

/**
 * Delivers events to all listeners, in the same order (CT 6).
 *
 * A listener may publish: a stream that overflows on an event disconnects its client immediately. Such an event waits until all
 * listeners have received the earlier one. Otherwise a listener might receive the consequence first.
 */
export class Bus {
  readonly #listeners = new Set<Listener>()
  readonly #waiting: { event: BusEvent; directory: string }[] = []
  #delivering = false

  /** Calls the listener for every later event, in all directories. Returns a function that unsubscribes it. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Delivers an event before it returns. A call from within a listener queues the event behind the earlier ones. */
  publish(directory: string, event: BusEvent): void {
    this.#waiting.push({ event, directory })
    if (this.#delivering) return
    this.#delivering = true
    try {
      // The loop includes events that are published meanwhile.
      for (const { event, directory } of this.#waiting) this.#deliver(event, directory)
    } finally {
      this.#waiting.length = 0
      this.#delivering = false
    }
  }

  #deliver(event: BusEvent, directory: string): void {
    // A copy, because a listener that subscribes during the delivery does not receive this event.
    for (const listener of [...this.#listeners]) {
      if (this.#listeners.has(listener)) listener(event, directory)
    }
  }
}
