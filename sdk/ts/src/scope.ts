export interface ScopeOptions {
  /** Aborts the scope too. */
  signal?: AbortSignal | undefined
  /** Aborts the scope with `reason` after `ms`. */
  limit?: { ms: number; reason: string }
}

/**
 * The lifetime of some work. Aborting a scope aborts the scopes opened in it. Unlike signals that listen to each other, a scope
 * that has ended leaves nothing behind: no timer, no listener.
 */
export class Scope {
  readonly #controller = new AbortController()
  readonly #children = new Set<Scope>()
  readonly #cleanUp: (() => void)[] = []

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  open({ signal, limit }: ScopeOptions = {}): Scope {
    const child = new Scope()
    this.#children.add(child)
    child.#cleanUp.push(() => this.#children.delete(child))
    if (signal) {
      const abort = (): void => {
        child.abort(signal.reason)
      }
      signal.addEventListener('abort', abort)
      child.#cleanUp.push(() => {
        signal.removeEventListener('abort', abort)
      })
      if (signal.aborted) abort()
    }
    if (limit) child.limit(limit.ms, limit.reason)
    if (this.signal.aborted) child.abort(this.signal.reason)
    return child
  }

  /** Aborts the scope after a time, unless it ends before. */
  limit(ms: number, reason: string): void {
    const timer = setTimeout(() => {
      this.abort(new Error(reason))
    }, ms)
    this.#cleanUp.push(() => {
      clearTimeout(timer)
    })
  }

  /** Settles like the promise. Rejects with the reason of the abort if that comes first. */
  race<T>(promise: Promise<T>): Promise<T> {
    return this.#wait((resolve, reject) => {
      promise.then(resolve, reject)
      return () => undefined
    })
  }

  /** Resolves after a time. Rejects with the reason of the abort if that comes first. */
  sleep(ms: number): Promise<void> {
    return this.#wait((resolve) => {
      const timer = setTimeout(resolve, ms)
      return () => {
        clearTimeout(timer)
      }
    })
  }

  /** `start` begins what settles the promise, and returns a function that ends it. */
  #wait<T>(start: (resolve: (value: T) => void, reject: (reason: Error) => void) => () => void): Promise<T> {
    const { signal } = this
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const onAbort = (): void => {
        end()
        reject(signal.reason as Error) // a caller's signal may have another reason
      }
      const stop = start(
        (value) => {
          end()
          resolve(value)
        },
        (reason) => {
          end()
          reject(reason)
        },
      )
      const end = (): void => {
        stop()
        signal.removeEventListener('abort', onAbort)
      }
      signal.addEventListener('abort', onAbort)
    })
  }

  abort(reason: unknown): void {
    this.end()
    this.#controller.abort(reason)
    for (const child of [...this.#children]) child.abort(reason)
  }

  /** Ends the scope without aborting it. */
  end(): void {
    for (const cleanUp of this.#cleanUp.splice(0)) cleanUp()
  }
}
