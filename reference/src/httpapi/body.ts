import { Collected } from './collected.ts'
import { BodyTooLargeError, BodyTooSlowError, BusyError } from './errors.ts'

/** The most bytes that the bodies of all unanswered requests may have together (S40). */
const maxInFlight = 64 * 1024 * 1024
/** How fast a body must arrive after the first seconds (S41). */
export const bytesPerSecond = 1024
/** The longest time in which nothing of a body may arrive. */
const longestPauseMs = 30_000

/** The bodies of all requests, with their shared size limit (S40) and their time limits (S41). */
export class Bodies {
  readonly #graceMs: number
  readonly #requests = new Map<Request, { since: number; last: number; bytes: number }>()
  #inFlight = 0

  constructor(graceMs = 10_000) {
    this.#graceMs = graceMs
  }

  /** Answers a request. Its body counts until the response is there. */
  async admit(request: Request, answer: () => Response | Promise<Response>): Promise<Response> {
    const now = performance.now()
    this.#requests.set(request, { since: now, last: now, bytes: 0 })
    bounds.set(request, this)
    try {
      return await answer()
    } finally {
      this.release(request)
    }
  }

  /** Counts received bytes. Throws a BusyError if there are too many, together with those of other requests. */
  take(request: Request, bytes: number): void {
    const body = this.#requests.get(request)
    if (body === undefined) return
    if (this.#inFlight > body.bytes && this.#inFlight + bytes > maxInFlight) throw new BusyError()
    body.bytes += bytes
    body.last = performance.now()
    this.#inFlight += bytes
  }

  release(request: Request): void {
    this.#inFlight -= this.#requests.get(request)?.bytes ?? 0
    this.#requests.delete(request)
  }

  /** Calls `tooSlow` if the body of a request is too slow. Returns a function that stops watching it. */
  watch(request: Request, tooSlow: () => void): () => void {
    const body = this.#requests.get(request)
    if (body === undefined) return () => undefined
    let timer: NodeJS.Timeout
    const look = (): void => {
      const allowed = Math.max(this.#graceMs, (body.bytes / bytesPerSecond) * 1000)
      const left = Math.min(body.since + allowed, body.last + longestPauseMs) - performance.now()
      if (left > 0) timer = setTimeout(look, Math.ceil(left))
      else tooSlow()
    }
    look()
    return () => {
      clearTimeout(timer)
    }
  }
}

const bounds = new WeakMap<Request, Bodies>()

/** Stops counting the body of a request, which is decoded although the response is not finished. */
export function bodyIsDecoded(request: Request): void {
  bounds.get(request)?.release(request)
}

/**
 * Reads the body of a request, up to a limit (S6). If the declared length is too large, nothing is read. A body without a
 * declared length is counted as it arrives. Throws a BodyTooLargeError, BodyTooSlowError or BusyError.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get('Content-Length') ?? 0) > maxBytes) throw new BodyTooLargeError()
  if (request.body === null) return new Uint8Array()
  const reader = request.body.getReader()
  const collected = new Collected()
  const slow = new AbortController()
  const stopWatch = bounds.get(request)?.watch(request, () => {
    slow.abort()
    void reader.cancel().catch(() => undefined) // ends the pending read; a body that was cut off has already ended
  })
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const chunk = part.value as Uint8Array // a Request's body yields only bytes (Fetch §5.2)
      bounds.get(request)?.take(request, chunk.length)
      collected.add(chunk)
      if (collected.size > maxBytes) throw new BodyTooLargeError()
    }
  } catch (error) {
    await reader.cancel().catch(() => undefined)
    throw error
  } finally {
    stopWatch?.()
  }
  if (slow.signal.aborted) throw new BodyTooSlowError()
  return collected.bytes()
}

/**
 * Whether a body with this content type is read as JSON (CT 3.4 step 3). The type must be in lower case, without a blank before
 * the first semicolon. Only complete parameters may follow; a value extends to the next semicolon (S25). Headers has already
 * removed blanks at both ends.
 */
export function isJsonType(contentType: string | null): boolean {
  return contentType !== null && jsonType.test(contentType)
}

const jsonType = /^application\/(?:[a-z.-]+\+)?json(?:;[ \t]*[a-zA-Z0-9-]+=[^;]+)*$/
