import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { Logger } from '../../log.ts'
import { Exchange, openToAll } from './exchange.ts'
import type { Fetch } from './exchange.ts'
import { acceptRawTargets } from './request-line.ts'
import { WriteScheduler } from './write-scheduler.ts'

/** Serves a `fetch` function on a port. */
export class HttpServer {
  readonly #fetch: Fetch
  readonly #logger: Logger
  readonly #lingerMs: number
  readonly #maxWaiting: number
  readonly #patienceMs: number
  readonly #server: Server
  readonly #connections = new Map<Socket, Connection>()
  readonly #closed: Promise<void>
  readonly #turns = new WriteScheduler()
  #stopping = false

  /**
   * `lingerMs` bounds how long a connection may take to finish abandoned work, and `maxWaiting` how many of its requests
   * may wait for their turn: behind an event stream they would be kept for as long as that. `patienceMs` is how long a caller may
   * take nothing of an answer.
   */
  constructor(fetch: Fetch, logger: Logger, lingerMs = 2000, maxWaiting = 10_000, patienceMs = 60_000) {
    this.#fetch = fetch
    this.#logger = logger
    this.#lingerMs = lingerMs
    this.#maxWaiting = maxWaiting
    this.#patienceMs = patienceMs
    this.#server = createServer({
      // A client may think for a minute between two requests without being cut off in the middle of the next.
      keepAliveTimeout: 60_000,
      // This is about how long a head takes to arrive. How slow a body may be is another matter (S41).
      headersTimeout: 60_000,
      requestTimeout: 0,
      maxHeaderSize: 64 * 1024,
      // Detects readers that vanished without closing the connection.
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      // Exchange does this, with the header of all responses.
      requireHostHeader: false,
    })
    // Node silently drops fields beyond a thousand. The size of the head bounds their number.
    this.#server.maxHeadersCount = 0
    allowHalfOpen(this.#server)
    this.#server.on('connection', (socket: Socket) => {
      this.#connections.set(socket, { current: undefined, last: undefined, turn: undefined, waiting: 0, broken: false })
      socket.once('close', () => this.#connections.delete(socket))
      acceptRawTargets(socket)
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
      else socket.destroy() // no connection of ours
    })
    this.#closed = new Promise((resolve) => {
      this.#server.once('close', resolve)
    })
  }

  /** Resolves to the address that is listened on, which names the port that was picked for port 0. */
  async listen(host: string, port: number): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject)
        resolve()
      })
    })
    // A string is the path of a pipe, null a server that does not listen.
    return this.#server.address() as AddressInfo
  }

  /** Takes no new connection, and closes those that wait for a request. */
  stopAccepting(): void {
    this.#stopping = true
    // Node's own idea of an idle connection includes one whose answer is not written to its end.
    this.#server.closeIdleConnections = () => {
      for (const [socket, { current }] of this.#connections) {
        if (current === undefined) socket.destroySoon()
      }
    }
    this.#server.close()
  }

  /** Waits for the connections to close by themselves; after the grace period, closes them. */
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
   * Runs the requests of one connection one after the other. node:http hands out pipelined requests all at once, and a
   * list would overtake the registration before it (RFC 9112 §9.3.2).
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
    })
    connection.last = exchange
    connection.waiting++
    this.#takeTurn(connection, async () => {
      connection.waiting--
      // After a syntax error, the rest of the connection cannot be parsed.
      if (socket.destroyed || (connection.broken && !exchange.received)) return
      connection.current = exchange
      await exchange.run(expectsContinue)
      await exchange.done
      connection.current = undefined
    })
  }

  /** Runs a task, which must not fail, when those before it are done; at once if there are none. */
  #takeTurn(connection: Connection, task: () => Promise<void>): void {
    connection.turn = connection.turn === undefined ? task() : connection.turn.then(task)
  }

  /** Answers invalid HTTP, after the valid requests before it. */
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
    // The error is in the body of the last request, which may still wait, or after it.
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
  /** The exchange whose turn it is. */
  current: Exchange | undefined
  /** The exchange whose request came last. */
  last: Exchange | undefined
  /** Settled when everything that came so far is done. */
  turn: Promise<void> | undefined
  /** How many requests wait for their turn. */
  waiting: number
  /** Invalid HTTP came, and nothing after it can be parsed. */
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
 * Keeps node:http from closing its side of a connection when the other side has only stopped sending: the answers to
 * what was sent are still owed, and Exchange decides what such a caller gets. The switch is old, but in no documentation
 * and no type; http-server.test.ts fails if it goes.
 */
function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true })
}
