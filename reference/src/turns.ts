/** How many tasks may wait for their turn, and how long one does. */
const [maxWaiting, maxWaitMs] = [100, 90_000]

interface Waiting {
  begin: () => void
  fail: (reason: Error) => void
}

/** Runs tasks one after the other, in the order in which they are given. */
export class Turns {
  #isBusy = false
  readonly #waiting = new Set<Waiting>()

  /** The outcome of the task. Rejects if too many others wait for their turn, or its own does not come in time. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#isBusy) await this.#turn()
    this.#isBusy = true
    try {
      return await task()
    } finally {
      const [next] = this.#waiting
      if (next === undefined) this.#isBusy = false
      else next.begin()
    }
  }

  /** Rejects all tasks that wait now. */
  failWaiting(reason: Error): void {
    for (const { fail } of this.#waiting) fail(reason)
  }

  #turn(): Promise<void> {
    if (this.#waiting.size === maxWaiting) throw new Error(`${maxWaiting} others wait for their turn`)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => { waiting.fail(new Error(`no turn within ${maxWaitMs} ms`)) }, maxWaitMs)
      const end = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(waiting)
      }
      const waiting: Waiting = {
        begin: () => {
          end()
          resolve()
        },
        fail: (reason) => {
          end()
          reject(reason)
        },
      }
      this.#waiting.add(waiting)
    })
  }
}
