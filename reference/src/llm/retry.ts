import { abortable } from '../abortable.ts'
import { failureOf } from './failures.ts'
import type { HttpAnswer } from './http-call.ts'
import type { Failure } from './model.ts'

/** The most bytes that are read of an error's body (M28). */
const maxErrorBytes = 64 * 1024
const firstWaitMs = 1000
const retries = 3

/** The result of an attempt that did not throw. */
type Attempt<T> = { result: T } | { failure: Failure }

/**
 * Tries until there is a result. Temporary failures are retried (GA 18.9). Rejects with the ModelError of the last failure, with
 * the error of an attempt, or with the reason of the signal.
 */
export async function withRetries<T>(attempt: () => Promise<Attempt<T>>, backoff: boolean, signal: AbortSignal): Promise<T> {
  for (let number = 0; ; number++) {
    const tried = await attempt()
    if ('result' in tried) return tried.result
    if (number === retries || !tried.failure.isTransient) throw tried.failure.error
    if (backoff) await wait(waitMs(number, Math.random()), signal)
  }
}

/** The answer if its status is 2xx, else its failure. `failureIn` may explain a failure better. */
export async function checked(
  answer: HttpAnswer,
  failureIn?: (status: number, bytes: Uint8Array) => Failure | undefined,
): Promise<Attempt<HttpAnswer>> {
  if (answer.status >= 200 && answer.status < 300) return { result: answer }
  const bytes = await answer.start(maxErrorBytes)
  return { failure: failureIn?.(answer.status, bytes) ?? failureOf(answer.status, bytes) }
}

/** About 1, 2 and 4 s, plus or minus a fifth; `chance` is between 0 and 1. */
export function waitMs(attempt: number, chance: number): number {
  return Math.round(firstWaitMs * 2 ** attempt * (0.8 + 0.4 * chance))
}

/** Waits. Rejects with the reason of the signal if the signal is aborted first. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return abortable(signal, (resolve) => {
    const timer = setTimeout(resolve, ms)
    return () => {
      clearTimeout(timer)
    }
  })
}
