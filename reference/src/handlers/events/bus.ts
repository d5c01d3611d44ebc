import type { BusEvent } from '#contract'

/** Receives an event and the directory it was published in. Must not throw. */
type Listener = (event: BusEvent, directory: string) => void

/**
 * Delivers events to all listeners, in the same order to each (CT 6).
 *
 * A listener may publish: a stream that overflows on an event disconnects its client there and then. Such events wait
 * until all listeners have the one before, or a listener would get the consequence first.
 */
export class Bus {
  readonly #listeners = new Set<Listener>()
  readonly #waiting: { event: BusEvent; directory: string }[] = []
  #delivering = false

  /** Calls the listener for every event from now on, of all directories. Returns how to stop that. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Delivers an event before it returns, or, from within a listener, as soon as the earlier ones are delivered. */
  publish(directory: string, event: BusEvent): void {
    this.#waiting.push({ event, directory })
    if (this.#delivering) return
    this.#delivering = true
    try {
      // Reaches the events that come meanwhile as well.
      for (const { event, directory } of this.#waiting) this.#deliver(event, directory)
    } finally {
      this.#waiting.length = 0
      this.#delivering = false
    }
  }

  #deliver(event: BusEvent, directory: string): void {
    // A copy, because a listener that comes during the delivery is too late for this event.
    for (const listener of [...this.#listeners]) {
      if (this.#listeners.has(listener)) listener(event, directory)
    }
  }
}
