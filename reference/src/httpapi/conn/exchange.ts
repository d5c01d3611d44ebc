import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../../log.ts'
import type { RequestSpan, Telemetry } from '../../telemetry/telemetry.ts'
import { bytesPerSecond } from '../body.ts'
import { everyAnswer } from '../cors.ts'
import { isOtherSite } from '../origin.ts'
import { routePath, urlOfTarget } from '../url-path.ts'
import { ClientSocket } from '../ws/client-socket.ts'
import { SocketResponse } from '../ws/handshake.ts'
import type { WriteScheduler } from './write-scheduler.ts'

export type Fetch = (request: Request) => Promise<Response>

interface ExchangeOptions {
  fetch: Fetch
  logger: Logger
  /** Whether the server is stopping, so that no connection is kept for another request. */
  stopping: () => boolean
  /** How long a connection may take to finish an abandoned stream or a rejected body. */
  lingerMs: number
  /** How long a client may read nothing of a response. */
  patienceMs: number
  /** Shared by all connections. */
  turns: WriteScheduler
  telemetry: Telemetry | undefined
  /** Ends HTTP on the connection, and returns the bytes after the request. */
  takeOver: () => Uint8Array[]
}

/** The abort reason of a request whose client has disconnected. */
class CallerDisconnectedError extends Error {
  override readonly name = 'CallerDisconnectedError'
}

/**
 * One request and its response on a connection of node:http. It makes a Request, writes the Response, and notices at once when
 * the client disconnects.
 *
 * A client that shuts down only its sending side counts as disconnected, too (CT 5.1): the request's signal is aborted, and a
 * stream is ended. Responses that have begun are still written, because such a client can read them.
 */
export class Exchange {
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #socket: Socket
  readonly #options: ExchangeOptions
  readonly #gone = new AbortController()
  /** Whether the client wants to reuse the connection. */
  readonly #keepsAlive: boolean
  /**
   * Keeps the Request alive as long as the exchange. If a Request is garbage-collected, the controller of its signal is too, and
   * an abort would have no effect.
   */
  #request: Request | undefined
  #stream: ReadableStreamDefaultReader<Uint8Array> | undefined
  #linger: NodeJS.Timeout | undefined
  readonly #span: RequestSpan | undefined
  /** Resolves when the response is written, or the connection is lost. */
  readonly done: Promise<void>

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, options: ExchangeOptions) {
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#socket = incoming.socket
    this.#options = options
    this.#keepsAlive = outgoing.shouldKeepAlive
    this.#span = options.telemetry?.request(incoming)
    this.done = new Promise((resolve) => {
      outgoing.once('close', () => {
        this.#closed()
        resolve()
      })
    })
  }

  /** Whether a part of the response has been written. */
  get answering(): boolean {
    return this.#outgoing.headersSent
  }

  /** Whether the whole request has arrived. */
  get received(): boolean {
    return this.#incoming.complete
  }

  /** The header fields of every response, including those that no route produces. */
  get headers(): Record<string, string> {
    const url = urlOfTarget(this.#incoming.url ?? '')
    return url === undefined ? openToAll : everyAnswer(routePath(url))
  }

  /** Never rejects. */
  run(expectsContinue: boolean): Promise<void> {
    const span = this.#span
    if (span === undefined) return this.#run(expectsContinue)
    void this.done.then(() => {
      span.end(this.answering ? this.#outgoing.statusCode : undefined)
    })
    return span.run(() => this.#run(expectsContinue))
  }

  async #run(expectsContinue: boolean): Promise<void> {
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
      // If the client is connected and has no response yet, it gets a 500. Otherwise the connection is closed.
      if (this.#gone.signal.aborted || this.#outgoing.headersSent) this.#outgoing.destroy()
      else this.#refuse(500)
    }
  }

  #requestFor(url: string, expectsContinue: boolean): Request {
    const request = this.#bareRequestFor(url, expectsContinue)
    // Fields are added one by one: the constructor would trim a joined value, and `/B, ` ends in a blank (S5).
    const raw = this.#incoming.rawHeaders
    for (let i = 0; i + 1 < raw.length; i += 2) request.headers.append(raw[i] ?? '', raw[i + 1] ?? '')
    // Joined, two content types could look like one with a comma in a parameter. They count as no type (S25).
    if (countFields(this.#incoming, 'content-type') > 1) request.headers.delete('content-type')
    // HTTP/1.0 has no upgrade (RFC 9110 §7.8).
    if (this.#incoming.httpVersion === '1.0') request.headers.delete('upgrade')
    // Two keys count as no key (G8).
    if (countFields(this.#incoming, 'x-secret-key') > 1) request.headers.delete('x-secret-key')
    // Each of several counts, so one stands for all: one that is refused, if there is any (S88).
    const sites = fields(this.#incoming, 'sec-fetch-site')
    if (sites.length > 1) request.headers.set('sec-fetch-site', sites.find(isOtherSite) ?? 'none')
    return request
  }

  #bareRequestFor(url: string, expectsContinue: boolean): Request {
    const method = this.#incoming.method ?? ''
    const signal = this.#gone.signal
    if (method === 'GET' || method === 'HEAD') return new Request(url, { method, signal })
    if (method === 'TRACE') {
      // The constructor rejects this method (Fetch §4.2.1), but the router needs it to respond with 405.
      return Object.defineProperty(new Request(url, { signal }), 'method', { value: method })
    }
    const body = hasBody(this.#incoming) ? this.#body(expectsContinue) : null
    return new Request(url, { method, signal, body, duplex: 'half' })
  }

  /** The body. It is read from the connection only on demand. */
  #body(expectsContinue: boolean): ReadableStream<Uint8Array> {
    // Cancelling must not destroy the connection, because the response still has to be written.
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
            else controller.enqueue(next.value as Uint8Array) // no encoding is set on the message, so chunks are bytes
          } catch (cause) {
            if (isCancelled) return
            this.#gone.abort(new CallerDisconnectedError('the request was cut off', { cause }))
            throw cause
          }
        },
        cancel: () => {
          isCancelled = true
          // Not awaited: it settles after the pending chunk, which may never arrive.
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
    if (response instanceof SocketResponse) {
      this.#upgrade(response)
      return
    }
    if (this.#options.stopping()) this.#outgoing.shouldKeepAlive = false
    if (response.headers.get('Connection') === 'close' && !this.#incoming.complete) closeGently(this.#socket, this.#options.lingerMs)
    this.#outgoing.writeHead(response.status, rawHeaders(response.headers))
    if (body === null) this.#outgoing.end()
    else if (response.headers.has('Content-Length')) await this.#writeWhole(body as ReadableStream<Uint8Array>)
    else await this.#writeStream(body as ReadableStream<Uint8Array>)
  }

  /** Writes the head of a 101, after which the connection is a WebSocket. The exchange ends with it. */
  #upgrade({ headers, session }: SocketResponse): void {
    this.#outgoing.writeHead(101, rawHeaders(headers))
    this.#outgoing.flushHeaders()
    new ClientSocket(this.#socket, this.#options.takeOver(), session, (bytes) => this.#options.turns.take(bytes))
  }

  /** Writes a response of known length, as much at once as is available. */
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

  /** Writes the end of a response. A client that reads nothing for some time is cut off. */
  #finish(last?: Uint8Array): void {
    this.#socket.setTimeout(this.#options.patienceMs)
    // This must come before Node sets its own timeout for an idle connection.
    this.#outgoing.prependOnceListener('finish', () => this.#socket.setTimeout(0))
    this.#outgoing.end(last)
  }

  /** Resolves when the connection accepts more data, or is lost. A client that reads nothing for some time is cut off. */
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

  /** Writes a stream as fast as the connection accepts it. The next part is read when the previous one has been passed on. */
  async #writeStream(body: ReadableStream<Uint8Array>): Promise<void> {
    const outgoing = this.#outgoing
    // The client waits for the head, and the first event may come late (CT 5, D39).
    outgoing.flushHeaders()
    const reader = (this.#stream = body.getReader())
    if (this.#gone.signal.aborted) this.#endStream()
    // A stream that fails closes the connection, whatever the loop below waits for. Its source logs the reason.
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

  /** Cancels the stream and finishes the response within a bounded time, even if nobody reads it. */
  #endStream(): void {
    if (this.#stream === undefined) return
    void this.#stream.cancel().catch(() => undefined) // a stream that failed is already over
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
    // A response that says `keep-alive` itself speaks of the connection only until the response ends (S33).
    if (this.#options.stopping() || !this.#keepsAlive) this.#socket.destroySoon()
    else if (!this.#incoming.complete && !this.#incoming.destroyed) this.#discardBody()
    this.#request = undefined
  }

  /** Reads and discards an unwanted body, as long as it arrives fast enough, so that the connection can be reused. */
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

  /** Responds to a request that does not reach the routes. */
  #refuse(status: 400 | 500): void {
    this.#outgoing.writeHead(status, {
      ...openToAll,
      'Content-Length': '0',
      Connection: 'close',
    })
    this.#outgoing.end()
  }
}

/** How many bytes of a response are passed to the system at once. */
const leavesTogether = 64 * 1024

/** The header of responses that do not belong to a route. */
export const openToAll = { 'Access-Control-Allow-Origin': '*' }

/** Whether a request head passes the checks of S42 and S52. Node takes a line without a version for HTTP/0.9. */
function isServed(incoming: IncomingMessage): boolean {
  return incoming.httpVersionMajor === 1 && hasOneHost(incoming) && hasOneFraming(incoming)
}

/** RFC 9112 §3.2: HTTP/1.1 requires one Host, and no request may have two. */
function hasOneHost(incoming: IncomingMessage): boolean {
  const hosts = countFields(incoming, 'host')
  if (incoming.httpVersion !== '1.1') return hosts <= 1
  return hosts === 1 && !/[\s\\/?#@]/.test(incoming.headers.host ?? '')
}

/**
 * RFC 9112 §6.1, §6.3: a request with two lengths may smuggle in another request (S42), and an unknown coding would change the
 * body. Node itself accepts an empty field.
 */
function hasOneFraming(incoming: IncomingMessage): boolean {
  const codings = countFields(incoming, 'transfer-encoding')
  if (codings === 0) return true
  const isChunked = codings === 1 && incoming.headers['transfer-encoding']?.toLowerCase() === 'chunked'
  return isChunked && incoming.httpVersion !== '1.0' && countFields(incoming, 'content-length') === 0
}

/** Counts the header fields with this lower-case name. */
function countFields(incoming: IncomingMessage, name: string): number {
  return fields(incoming, name).length
}

/** The values of the header fields with this lower-case name. */
function fields({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name)
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Header fields in the form that node:http takes, with names in their usual capitals. */
function rawHeaders(headers: Headers): string[] {
  return [...headers].flatMap(([name, value]) => [name.replace(/\b[a-z]/g, (c) => c.toUpperCase()), value])
}

/** Returns a function that says whether the rest of a body arrives too slowly (S41). */
function paceOf(socket: Socket): () => boolean {
  const [start, before] = [performance.now(), socket.bytesRead]
  return () => {
    const seconds = (performance.now() - start) / 1000
    return seconds > 10 && socket.bytesRead - before < seconds * bytesPerSecond
  }
}

/**
 * Closes a connection as in RFC 9112 §9.6: what the client still sends is read for a while. Otherwise the system would discard
 * the response too.
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
