/**
 * A promise that rejects with the reason of the signal if the signal is aborted first. `start` begins the work that settles the
 * promise otherwise. It returns a clean-up function, which is called once, before the promise settles.
 */
export function abortable<T>(
  signal: AbortSignal,
  start: (resolve: (value: T) => void, reject: (reason: Error) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const end = (): void => {
      signal.removeEventListener('abort', onAbort)
      cleanUp()
    }
    const onAbort = (): void => {
      end()
      reject(signal.reason as Error) // the reason of an abort is always an Error
    }
    signal.addEventListener('abort', onAbort)
    const cleanUp = start(
      (value) => {
        end()
        resolve(value)
      },
      (reason) => {
        end()
        reject(reason)
      },
    )
  })
}
