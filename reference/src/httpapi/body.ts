import { BodyTooLargeError, BodyTooSlowError, BusyError } from './errors.ts'

/** Bytes of the bodies of all requests that are not answered yet (S40). */
const maxInFlight = 64 * 1024 * 1024
/** How fast a body has to come after the first seconds (S41). */
export const bytesPerSecond = 1024
/** How long nothing may come of it. */
const longestPauseMs = 30_000

/** The bodies of all requests, with what bounds them together (S40) and in time (S41). */
export class Bodies {
  readonly #graceMs: number
  readonly #requests = new Map<Request, { since: number; last: number; bytes: number }>()
  #inFlight = 0

  constructor(graceMs = 10_000) {
    this.#graceMs = graceMs
  }

  /** Answers a request, whose body counts for as long as that takes. */
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

  /** Counts bytes that have come. Throws a BusyError when they are too many beside those of others. */
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

  /** Calls back when the body of a request is too slow, unless that is stopped. */
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

/** Stops counting the body of a request: it is decoded, although the response is still to come. */
export function bodyIsDecoded(request: Request): void {
  bounds.get(request)?.release(request)
}

/**
 * Reads the body of a request, up to a limit (S6). A length that is announced is refused before anything is read; a
 * body without one is counted while it comes. Throws a BodyTooLargeError, BodyTooSlowError or BusyError.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get('Content-Length') ?? 0) > maxBytes) throw new BodyTooLargeError()
  if (request.body === null) return new Uint8Array()
  const reader = request.body.getReader()
  const collected = new Collected()
  const slow = new AbortController()
  const stopWatch = bounds.get(request)?.watch(request, () => {
    slow.abort()
    void reader.cancel().catch(() => undefined) // ends the read that waits; a body that was cut off is over as well
  })
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const chunk = part.value as Uint8Array // a Request's body yields nothing else (Fetch §5.2)
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

/** Small chunks are copied together: each by itself takes more memory than its bytes, and there may be millions. */
class Collected {
  size = 0
  readonly #chunks: Uint8Array[] = []
  /** The last chunk, of which this much is used. */
  #block = Buffer.alloc(0)
  #used = 0

  add(chunk: Uint8Array): void {
    this.size += chunk.length
    if (chunk.length >= blockSize / 4) {
      this.#close()
      this.#chunks.push(chunk)
      return
    }
    if (this.#used + chunk.length > this.#block.length) {
      this.#close()
      this.#block = Buffer.allocUnsafeSlow(blockSize)
    }
    this.#block.set(chunk, this.#used)
    this.#used += chunk.length
  }

  bytes(): Uint8Array {
    this.#close()
    return Buffer.concat(this.#chunks, this.size)
  }

  #close(): void {
    if (this.#used > 0) this.#chunks.push(this.#block.subarray(0, this.#used))
    this.#block = Buffer.alloc(0)
    this.#used = 0
  }
}

const blockSize = 64 * 1024

/**
 * Whether a body of this content type is read as JSON (CT 3.4 step 3). All lower case, no blank before the first
 * semicolon, and nothing after the type but whole parameters, whose values are anything up to a semicolon (S25). Blanks
 * around it all are gone already: Headers takes them away.
 */
export function isJsonType(contentType: string | null): boolean {
  return contentType !== null && jsonType.test(contentType)
}

const jsonType = /^application\/(?:[a-z.-]+\+)?json(?:;[ \t]*[a-zA-Z0-9-]+=[^;]+)*$/
