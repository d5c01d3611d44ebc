import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../../log.ts'
import { bytesPerSecond } from '../body.ts'
import { everyAnswer } from '../cors.ts'
import { routePath, urlOfTarget } from '../url-path.ts'
import type { WriteScheduler } from './write-scheduler.ts'

export type Fetch = (request: Request) => Promise<Response>

interface ExchangeOptions {
  fetch: Fetch
  logger: Logger
  /** The server is stopping, so no connection is kept for another request. */
  stopping: () => boolean
  /** How long a connection may take to finish an abandoned stream or a refused body. */
  lingerMs: number
  /** How long a caller may take nothing of an answer. */
  patienceMs: number
  /** Shared by all connections. */
  turns: WriteScheduler
}

/** Why a request's signal is aborted. */
class CallerDisconnectedError extends Error {
  override readonly name = 'CallerDisconnectedError'
}

/**
 * One request and its response on a connection of node:http. It makes a Request, writes the Response, and notices at once when
 * the caller disconnects.
 *
 * A caller that shuts down only its sending side counts as disconnected, too (CT 5.1):
 * the request's signal is aborted and a stream is ended. Answers that are on their way are still written, because such
 * a caller can read them.
 */
export class Exchange {
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #socket: Socket
  readonly #options: ExchangeOptions
  readonly #gone = new AbortController()
  /** Whether the caller wants to use the connection again. */
  readonly #keepsAlive: boolean
  /**
   * Kept for as long as the exchange, which the connection keeps: a Request that is collected takes the controller
   * behind its signal with it, and an abort would then have no effect.
   */
  #request: Request | undefined
  #stream: ReadableStreamDefaultReader<Uint8Array> | undefined
  #linger: NodeJS.Timeout | undefined
  /** Settled when the answer is written or the connection lost. */
  readonly done: Promise<void>

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, options: ExchangeOptions) {
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#socket = incoming.socket
    this.#options = options
    this.#keepsAlive = outgoing.shouldKeepAlive
    this.done = new Promise((resolve) => {
      outgoing.once('close', () => {
        this.#closed()
        resolve()
      })
    })
  }

  /** Whether a part of the answer has been written. */
  get answering(): boolean {
    return this.#outgoing.headersSent
  }

  /** Whether the whole request has come. */
  get received(): boolean {
    return this.#incoming.complete
  }

  /** The header fields of any answer, also of one that no route gives. */
  get headers(): Record<string, string> {
    const url = urlOfTarget(this.#incoming.url ?? '')
    return url === undefined ? openToAll : everyAnswer(routePath(url))
  }

  /** Never rejects. */
  async run(expectsContinue: boolean): Promise<void> {
    this.#socket.once('end', this.#peerEnded)
    if (this.#socket.readableEnded) this.#peerEnded()
    const url = isServed(this.#incoming) ? urlOfTarget(this.#incoming.url ?? '') : undefined
    if (url === undefined) {
      this.#refuse(400)
      return
    }
    try {
      this.#request = this.#requestFor(url, expectsContinue)
      await this.#write(await this.#options.fetch(this.#request))
    } catch (error) {
      if (!this.#gone.signal.aborted) this.#options.logger.error('answer failed', { err: error })
      // A connected caller without any response yet gets a 500. Otherwise close the connection.
      if (this.#gone.signal.aborted || this.#outgoing.headersSent) this.#outgoing.destroy()
      else this.#refuse(500)
    }
  }

  #requestFor(url: string, expectsContinue: boolean): Request {
    const request = this.#bareRequestFor(url, expectsContinue)
    // One by one, because the constructor trims a value that is joined already, and `/B, ` ends in a blank (S5).
    const raw = this.#incoming.rawHeaders
    for (let i = 0; i + 1 < raw.length; i += 2) request.headers.append(raw[i] ?? '', raw[i + 1] ?? '')
    // Joined, two of them can look like one with a comma in a parameter. They are no type at all (S25).
    if (countFields(this.#incoming, 'content-type') > 1) request.headers.delete('content-type')
    // Two keys are no key (G8).
    if (countFields(this.#incoming, 'x-secret-key') > 1) request.headers.delete('x-secret-key')
    return request
  }

  #bareRequestFor(url: string, expectsContinue: boolean): Request {
    const method = this.#incoming.method ?? ''
    const signal = this.#gone.signal
    if (method === 'GET' || method === 'HEAD') return new Request(url, { method, signal })
    if (method === 'TRACE') {
      // The constructor refuses this method (Fetch §4.2.1), and the router has to see it to answer 405.
      return Object.defineProperty(new Request(url, { signal }), 'method', { value: method })
    }
    const body = hasBody(this.#incoming) ? this.#body(expectsContinue) : null
    return new Request(url, { method, signal, body, duplex: 'half' })
  }

  /** The body, read from the connection only as far as it is asked for. */
  #body(expectsContinue: boolean): ReadableStream<Uint8Array> {
    // Giving up must not destroy the connection: the response is still to be written.
    const chunks = this.#incoming.iterator({ destroyOnReturn: false })
    let waiting = expectsContinue
    let isCancelled = false
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          // Only now is it certain that the body is wanted (RFC 9110 §10.1.1).
          if (waiting) this.#outgoing.writeContinue()
          waiting = false
          try {
            const next = await chunks.next()
            if (isCancelled) return
            if (next.done === true) controller.close()
            else controller.enqueue(next.value as Uint8Array) // no encoding is set on the message
          } catch (cause) {
            if (isCancelled) return
            this.#gone.abort(new CallerDisconnectedError('the request was cut off', { cause }))
            throw cause
          }
        },
        cancel: () => {
          isCancelled = true
          // Not awaited: it settles after the pending chunk, which may never come.
          void chunks.return?.()
        },
      },
      { highWaterMark: 0 },
    )
  }

  async #write(response: Response): Promise<void> {
    const { body } = response
    if (this.#outgoing.destroyed) {
      await body?.cancel()
      return
    }
    if (this.#options.stopping()) this.#outgoing.shouldKeepAlive = false
    if (response.headers.get('Connection') === 'close' && !this.#incoming.complete) closeGently(this.#socket, this.#options.lingerMs)
    this.#outgoing.writeHead(response.status, rawHeaders(response.headers))
    if (body === null) this.#outgoing.end()
    else if (response.headers.has('Content-Length')) await this.#writeWhole(body as ReadableStream<Uint8Array>)
    else await this.#writeStream(body as ReadableStream<Uint8Array>)
  }

  /** Writes a response with a length, as much as is available at once. */
  async #writeWhole(body: ReadableStream<Uint8Array>): Promise<void> {
    const outgoing = this.#outgoing
    const reader = body.getReader()
    let written = 0
    let next = await reader.read()
    while (!next.done) {
      const { value } = next
      next = await reader.read()
      await this.#options.turns.take(value.length)
      if (outgoing.destroyed) {
        await reader.cancel()
        return
      }
      if (next.done) {
        this.#finish(value)
        break
      }
      outgoing.write(value)
      written += value.length
      // Small pieces are written together.
      if (written < leavesTogether || !outgoing.writableNeedDrain) continue
      written = 0
      await this.#drained()
    }
    if (!outgoing.writableEnded) this.#finish()
  }

  /** Writes the end of an answer. A caller that reads nothing for a time is cut off. */
  #finish(last?: Uint8Array): void {
    this.#socket.setTimeout(this.#options.patienceMs)
    // Before Node sets its own time for an idle connection.
    this.#outgoing.prependOnceListener('finish', () => this.#socket.setTimeout(0))
    this.#outgoing.end(last)
  }

  /** Resolves when the connection takes more, or is lost. A caller that reads nothing for a time is cut off. */
  async #drained(): Promise<void> {
    const [outgoing, socket] = [this.#outgoing, this.#socket]
    if (outgoing.destroyed) return
    socket.setTimeout(this.#options.patienceMs)
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        outgoing.off('drain', settle)
        outgoing.off('close', settle)
        resolve()
      }
      outgoing.on('drain', settle)
      outgoing.on('close', settle)
    })
    socket.setTimeout(0)
  }

  /** Writes a stream as fast as the connection takes it: the next part is read when the last one has been passed on. */
  async #writeStream(body: ReadableStream<Uint8Array>): Promise<void> {
    const outgoing = this.#outgoing
    // Readers wait for the head, and the first event may be long in coming (CT 5, D39).
    outgoing.flushHeaders()
    const reader = (this.#stream = body.getReader())
    if (this.#gone.signal.aborted) this.#endStream()
    // A stream that fails closes the connection, whatever the loop below waits for. The reason is logged by its source.
    reader.closed.catch(() => outgoing.destroy())
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        await this.#options.turns.take(part.value.length)
        if (!outgoing.write(part.value)) await this.#drained()
      }
      this.#finish()
    } catch {
      outgoing.destroy()
    }
  }

  readonly #peerEnded = (): void => {
    this.#gone.abort(new CallerDisconnectedError('the caller stopped sending'))
    this.#endStream()
  }

  /** Cancels the stream and finishes the response, in a bounded time even if it is not read. */
  #endStream(): void {
    if (this.#stream === undefined) return
    void this.#stream.cancel().catch(() => undefined) // a stream that failed is over as well
    this.#outgoing.end()
    this.#linger ??= setTimeout(() => this.#outgoing.destroy(), this.#options.lingerMs)
  }

  #closed(): void {
    clearTimeout(this.#linger)
    this.#socket.off('end', this.#peerEnded)
    if (!this.#outgoing.writableFinished) {
      this.#gone.abort(new CallerDisconnectedError('the caller closed the connection'))
      void this.#stream?.cancel().catch(() => undefined)
    }
    // Answers that say `keep-alive` themselves are only about the connection until they end (S33).
    if (this.#options.stopping() || !this.#keepsAlive) this.#socket.destroySoon()
    else if (!this.#incoming.complete && !this.#incoming.destroyed) this.#discardBody()
    this.#request = undefined
  }

  /** Reads past a body that was not wanted, so that the connection can be used again, for as long as it comes fast enough. */
  #discardBody(): void {
    const socket = this.#socket
    const isTooSlow = paceOf(socket)
    let cancel = (): void => undefined
    const watch = (): void => {
      const before = socket.bytesRead
      const timer = setTimeout(() => {
        // In a busy process, timers fire before bytes that have already arrived are read.
        const look = setImmediate(() => {
          if (socket.bytesRead === before || isTooSlow()) socket.destroy()
          else watch()
        })
        cancel = (): void => {
          clearImmediate(look)
        }
      }, this.#options.lingerMs)
      cancel = (): void => {
        clearTimeout(timer)
      }
    }
    watch()
    this.#incoming.once('close', () => {
      cancel()
    })
    this.#incoming.resume()
  }

  /** Answers a request that does not reach the routes. */
  #refuse(status: 400 | 500): void {
    this.#outgoing.writeHead(status, {
      ...openToAll,
      'Content-Length': '0',
      Connection: 'close',
    })
    this.#outgoing.end()
  }
}

/** Bytes of an answer that the system is given at once. */
const leavesTogether = 64 * 1024

/** The header of responses to requests that belong to no route. */
export const openToAll = { 'Access-Control-Allow-Origin': '*' }

/** Whether a head is one that S42 and S52 let pass. Node takes a line without a version for HTTP/0.9. */
function isServed(incoming: IncomingMessage): boolean {
  return incoming.httpVersionMajor === 1 && hasOneHost(incoming) && hasOneFraming(incoming)
}

/** RFC 9112 §3.2: HTTP/1.1 needs one Host, and no request may have two. */
function hasOneHost(incoming: IncomingMessage): boolean {
  const hosts = countFields(incoming, 'host')
  if (incoming.httpVersion !== '1.1') return hosts <= 1
  return hosts === 1 && !/[\s\\/?#@]/.test(incoming.headers.host ?? '')
}

/**
 * RFC 9112 §6.1, §6.3: a request with two lengths may smuggle in another request (S42), and an unknown coding would change the
 * body. Node accepts an empty field.
 */
function hasOneFraming(incoming: IncomingMessage): boolean {
  const codings = countFields(incoming, 'transfer-encoding')
  if (codings === 0) return true
  const isChunked = codings === 1 && incoming.headers['transfer-encoding']?.toLowerCase() === 'chunked'
  return isChunked && incoming.httpVersion !== '1.0' && countFields(incoming, 'content-length') === 0
}

/** How many header fields have this name, which is in lower case. */
function countFields({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((raw, i) => i % 2 === 0 && raw.toLowerCase() === name).length
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Header fields as node:http takes them, in the capitals that people expect to read. */
function rawHeaders(headers: Headers): string[] {
  return [...headers].flatMap(([name, value]) => [name.replace(/\b[a-z]/g, (c) => c.toUpperCase()), value])
}

/** Reports whether the rest of a body comes too slowly (S41). */
function paceOf(socket: Socket): () => boolean {
  const [start, before] = [performance.now(), socket.bytesRead]
  return () => {
    const seconds = (performance.now() - start) / 1000
    return seconds > 10 && socket.bytesRead - before < seconds * bytesPerSecond
  }
}

/**
 * Closes a connection as RFC 9112 §9.6 says: what the caller still sends is read for a while. Otherwise the system would discard
 * the response with it.
 */
function closeGently(socket: Socket, ms: number): void {
  socket.destroySoon = () => {
    socket.end()
    const timer = setTimeout(() => socket.destroy(), ms)
    socket.once('close', () => {
      clearTimeout(timer)
    })
  }
}
