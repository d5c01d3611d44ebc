/** The time for something is over. */
export class LateError extends Error {
  override readonly name = 'LateError'
}

/**
 * Runs something with a signal that is aborted after this time, with a LateError, or when the given signal is aborted. No timer
 * and no listener is left.
 */
export async function inTime<T>(ms: number, signal: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController()
  const follow = (): void => {
    over.abort(signal.reason)
  }
  if (signal.aborted) follow()
  else signal.addEventListener('abort', follow)
  const timer = setTimeout(() => {
    over.abort(new LateError(`not within ${ms} ms`))
  }, ms)
  try {
    return await run(over.signal)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', follow)
  }
}
