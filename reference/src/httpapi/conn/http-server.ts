import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Socket, type AddressInfo } from 'node:net'
import type { Logger } from '../../log.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import { Exchange, openToAll, type Fetch } from './exchange.ts'
import { acceptRawTargets, type RawInput } from './request-line.ts'
import { WriteScheduler } from './write-scheduler.ts'

interface HttpServerOptions {
  /** How long a connection may take to finish abandoned work: 2 s by default. */
  lingerMs?: number | undefined
  /** How many requests of a connection may wait: 10,000 by default. Behind an event stream they wait as long as it lasts. */
  maxWaiting?: number | undefined
  /** How long a client may read nothing of a response: a minute by default. */
  patienceMs?: number | undefined
  telemetry?: Telemetry | undefined
}

/** Serves a `fetch` function on a port. */
export class HttpServer {
  readonly #fetch: Fetch
  readonly #logger: Logger
  readonly #lingerMs: number
  readonly #maxWaiting: number
  readonly #patienceMs: number
  readonly #telemetry: Telemetry | undefined
  readonly #server: Server
  readonly #connections = new Map<Socket, Connection>()
  readonly #closed: Promise<void>
  readonly #turns = new WriteScheduler()
  #stopping = false

  constructor(fetch: Fetch, logger: Logger, { lingerMs = 2000, maxWaiting = 10_000, patienceMs = 60_000, telemetry }: HttpServerOptions = {}) {
    this.#fetch = fetch
    this.#telemetry = telemetry
    this.#logger = logger
    this.#lingerMs = lingerMs
    this.#maxWaiting = maxWaiting
    this.#patienceMs = patienceMs
    this.#server = createServer({
      // A client may pause for a minute between two requests without being cut off during the next one.
      keepAliveTimeout: 60_000,
      // This limits the time of a head. Slow bodies have their own limit (S41).
      headersTimeout: 60_000,
      requestTimeout: 0,
      maxHeaderSize: 64 * 1024,
      // Detects clients that vanished without closing the connection.
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      // Exchange does this, and adds the header fields of all responses.
      requireHostHeader: false,
    })
    // Node silently drops fields beyond a thousand. The size of the head limits their number.
    this.#server.maxHeadersCount = 0
    allowHalfOpen(this.#server)
    this.#server.on('connection', (socket: Socket) => {
      const input = acceptRawTargets(socket)
      this.#connections.set(socket, { input, current: undefined, last: undefined, turn: undefined, waiting: 0, broken: false })
      socket.once('close', () => this.#connections.delete(socket))
    })
    this.#server.on('request', (incoming, outgoing) => {
      this.#enqueue(incoming, outgoing, false)
    })
    this.#server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
      this.#enqueue(incoming, outgoing, true)
    })
    // Unknown expectations may be ignored (RFC 9110 §10.1.1).
    this.#server.on('checkExpectation', (incoming: IncomingMessage, outgoing: ServerResponse) => {
      this.#enqueue(incoming, outgoing, false)
    })
    this.#server.on('clientError', (error, socket) => {
      if (socket instanceof Socket) this.#refuse(error, socket)
      else socket.destroy() // not a connection of this server
    })
    this.#closed = new Promise((resolve) => {
      this.#server.once('close', resolve)
    })
  }

  /** Resolves to the listening address. It contains the actual port if `port` is 0. */
  async listen(host: string, port: number): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject)
        resolve()
      })
    })
    // A string is the path of a pipe; null means that the server does not listen.
    return this.#server.address() as AddressInfo
  }

  /** Accepts no new connections, and closes those that wait for a request. */
  stopAccepting(): void {
    this.#stopping = true
    // Node also counts a connection as idle whose response is not completely written.
    this.#server.closeIdleConnections = () => {
      for (const [socket, { current }] of this.#connections) {
        if (current === undefined) socket.destroySoon()
      }
    }
    this.#server.close()
  }

  /** Waits until the connections close by themselves; after the grace period, closes them. */
  async drain(graceMs: number): Promise<void> {
    const timer = setTimeout(() => {
      const open = this.#connections.size
      this.#logger.warn('connections cut', { open })
      for (const socket of this.#connections.keys()) socket.destroy()
    }, graceMs)
    await this.#closed
    clearTimeout(timer)
  }

  /**
   * Runs the requests of one connection one after the other. node:http emits pipelined requests all at once, so a list could
   * overtake the registration before it (RFC 9112 §9.3.2).
   */
  #enqueue(incoming: IncomingMessage, outgoing: ServerResponse, expectsContinue: boolean): void {
    const { socket } = incoming
    const connection = this.#connections.get(socket)
    if (connection === undefined || socket.destroyed) return
    if (connection.waiting === this.#maxWaiting) {
      this.#logger.warn('too many requests at once, connection cut', { waiting: connection.waiting })
      socket.destroy()
      return
    }
    const exchange = new Exchange(incoming, outgoing, {
      fetch: this.#fetch,
      logger: this.#logger,
      stopping: () => this.#stopping,
      lingerMs: this.#lingerMs,
      patienceMs: this.#patienceMs,
      turns: this.#turns,
      telemetry: this.#telemetry,
      takeOver: connection.input.takeOver,
    })
    connection.last = exchange
    connection.waiting++
    this.#takeTurn(connection, async () => {
      connection.waiting--
      // The rest of the connection cannot be parsed after a syntax error.
      if (socket.destroyed || (connection.broken && !exchange.received)) return
      connection.current = exchange
      await exchange.run(expectsContinue)
      await exchange.done
      connection.current = undefined
      if (incoming.headers.upgrade !== undefined) connection.input.resume()
    })
  }

  /** Runs a task after the earlier ones, or at once if there are none. The task must not fail. */
  #takeTurn(connection: Connection, task: () => Promise<void>): void {
    connection.turn = connection.turn === undefined ? task() : connection.turn.then(task)
  }

  /** Responds to invalid HTTP, after the valid requests before it. */
  #refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined || error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    if (connection.broken) return
    connection.broken = true
    const { current, last } = connection
    // A client that stops sending within a body counts as disconnected (S38).
    const isGone = error.code === 'HPE_INVALID_EOF_STATE' && last?.received === false
    // The syntax error is either after the last request or in its body. That request may still wait.
    const headers = last?.received === false ? last.headers : openToAll
    if (current?.received === false) {
      if (isGone || current.answering) socket.destroy()
      else endWith(socket, statusOf(error), headers)
      return
    }
    this.#takeTurn(connection, () => {
      if (isGone) socket.destroySoon()
      else endWith(socket, statusOf(error), headers)
      return Promise.resolve()
    })
  }
}

/** The state of a connection. */
interface Connection {
  input: RawInput
  /** The exchange that is running. */
  current: Exchange | undefined
  /** The exchange of the latest request. */
  last: Exchange | undefined
  /** Resolves when all requests so far are done. */
  turn: Promise<void> | undefined
  /** How many requests wait for their turn. */
  waiting: number
  /** Whether invalid HTTP has arrived; nothing after it can be parsed. */
  broken: boolean
}

function endWith(socket: Socket, status: string, headers: Record<string, string>): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const fields = Object.entries({ ...headers, 'Content-Length': '0', Connection: 'close' })
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.end(`HTTP/1.1 ${status}\r\n${head}\r\n`, () => socket.destroy())
}

function statusOf({ code }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return '431 Request Header Fields Too Large'
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return '408 Request Timeout'
    default:
      return '400 Bad Request'
  }
}

/**
 * Keeps node:http from closing its side of a connection when the client has only stopped sending. The client is still owed its
 * responses, and Exchange decides what it gets. The option is old, but neither documented nor typed; http-server.test.ts fails if
 * it disappears.
 */
function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true })
}
