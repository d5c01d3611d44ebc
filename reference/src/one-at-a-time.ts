/** Runs tasks one after the other, in the order in which they are given. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve()

  /** The outcome of the task. It begins when all earlier ones have ended, however they ended. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    const outcome = this.#last.then(task)
    this.#last = outcome.catch(() => undefined)
    return outcome
  }
}
