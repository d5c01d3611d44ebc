import { abortable } from '../abortable.ts'
import { errorOfResponse, isTransient } from './failures.ts'
import { postJson, type Endpoint, type HttpAnswer } from './http-call.ts'

/** The most bytes that are read of an error's body (M28). */
const maxErrorBytes = 64 * 1024
const firstWaitMs = 1000
const retries = 3

/**
 * Asks until there is an answer with a status of 2xx. Temporary failures are retried (GA 18.9). Rejects with a ModelError, or
 * with the reason of the signal.
 */
export async function postWithRetries(endpoint: Endpoint, body: string, backoff: boolean, signal: AbortSignal): Promise<HttpAnswer> {
  for (let attempt = 0; ; attempt++) {
    const answer = await postJson(endpoint, body, signal)
    if (answer.status >= 200 && answer.status < 300) return answer
    const failure = errorOfResponse(answer.status, await answer.start(maxErrorBytes))
    if (attempt === retries || !isTransient(answer.status)) throw failure
    if (backoff) await wait(waitMs(attempt, Math.random()), signal)
  }
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
