import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long a computation may block the event loop. */
const turnMs = 10

/** The time slices of one long computation. */
export class TimeSlices {
  #end = performance.now() + turnMs

  /** Yields to the event loop if the time slice is over. */
  async yieldIfDue(): Promise<void> {
    if (performance.now() < this.#end) return
    await nextTurn()
    this.#end = performance.now() + turnMs
  }
}

/** Runs a long computation, which yields to the event loop from time to time. */
export async function runInSlices<T>(steps: Generator<undefined, T>): Promise<T> {
  const slices = new TimeSlices()
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    await slices.yieldIfDue()
  }
}

/** Runs such a computation without yielding. */
export function runToEnd<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
