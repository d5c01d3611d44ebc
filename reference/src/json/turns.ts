import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long a computation may go on before others have their turn. */
const turnMs = 10

/** Runs a long computation that yields to the event loop now and then. */
export async function inTurns<T>(steps: Generator<undefined, T>): Promise<T> {
  for (let end = performance.now() + turnMs; ; ) {
    const { done, value } = steps.next()
    if (done === true) return value
    if (performance.now() < end) continue
    await nextTurn()
    end = performance.now() + turnMs
  }
}

/** Runs it at once. */
export function atOnce<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
