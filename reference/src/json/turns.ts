import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long a computation may go on before others have their turn. */
const turnMs = 10

/** The pauses of one long computation. */
export class Pauses {
  #end = performance.now() + turnMs

  /** Lets others have their turn if it is time for that. */
  async pause(): Promise<void> {
    if (performance.now() < this.#end) return
    await nextTurn()
    this.#end = performance.now() + turnMs
  }
}

/** Runs a long computation that yields to the event loop now and then. */
export async function inTurns<T>(steps: Generator<undefined, T>): Promise<T> {
  const pauses = new Pauses()
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    await pauses.pause()
  }
}

/** Runs it at once. */
export function atOnce<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
