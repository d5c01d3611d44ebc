import { abortable } from '../../abortable.ts'

/** Lets at most so many run at the same time. The others wait in their order. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Runs a function when there is room for it. Rejects without running it if the signal is aborted first. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await this.#turn(signal)
    try {
      signal.throwIfAborted()
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return abortable<undefined>(signal, (resolve) => {
      const next = (): void => {
        resolve(undefined)
      }
      this.#waiting.push(next)
      return () => {
        const at = this.#waiting.indexOf(next)
        if (at !== -1) this.#waiting.splice(at, 1)
      }
    })
  }
}
