import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'

/** Takes the items of a queue one by one, and waits for those to come. */
class Queue<T> {
  readonly #items: T[] = []
  readonly #waiting: ((item: T) => void)[] = []

  get size(): number {
    return this.#items.length
  }

  push(item: T): void {
    const waiting = this.#waiting.shift()
    if (waiting) waiting(item)
    else this.#items.push(item)
  }

  next(): Promise<T> {
    const item = this.#items.shift()
    return item === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(item)
  }
}

/** A request that waits for the test to answer it. */
export class Received {
  readonly line: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** Resolves when the client has closed the connection, or has read the response. */
  readonly closed: Promise<void>
  readonly #response: ServerResponse

  constructor(request: IncomingMessage, body: string, response: ServerResponse) {
    this.line = `${request.method} ${request.url}`
    this.headers = request.headers
    this.body = body
    this.#response = response
    this.closed = new Promise((resolve) => {
      response.once('close', resolve)
    })
  }

  json(): unknown {
    return JSON.parse(this.body)
  }

  reply(status: number, body: unknown = {}): void {
    this.#response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  }

  redirect(location: string): void {
    this.#response.writeHead(307, { Location: location }).end()
  }

  replyText(status: number, body: string): void {
    this.#response.writeHead(status).end(body)
  }

  /** Sends the head of an event stream. */
  open(): this {
    this.#response.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders()
    return this
  }

  write(text: string): this {
    this.#response.write(text)
    return this
  }

  event(type: string, data: unknown): this {
    return this.write(`${type ? `event: ${type}\n` : ''}data: ${JSON.stringify(data)}\n\n`)
  }

  end(): void {
    this.#response.end()
  }

  cut(): void {
    this.#response.destroy()
  }
}

/** The handshake of a socket that waits for the test. */
export class Handshake {
  readonly #socketServer = new WebSocketServer({ noServer: true })
  readonly request: IncomingMessage
  readonly #socket: Duplex
  readonly #head: Buffer

  constructor(request: IncomingMessage, socket: Duplex, head: Buffer) {
    this.request = request
    this.#socket = socket
    this.#head = head
  }

  accept(): Promise<ServerSocket> {
    return new Promise((resolve) => {
      this.#socketServer.handleUpgrade(this.request, this.#socket, this.#head, (socket) => {
        resolve(new ServerSocket(socket))
      })
    })
  }

  refuse(): void {
    this.#socket.end('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n')
  }
}

export class ServerSocket {
  readonly closed: Promise<number>
  readonly #socket: WebSocket
  readonly #messages = new Queue<string>()

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data: Buffer) => {
      this.#messages.push(data.toString())
    })
    this.closed = new Promise((resolve) => socket.once('close', resolve))
  }

  next(): Promise<string> {
    return this.#messages.next()
  }

  send(message: unknown): void {
    this.#socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message))
  }

  close(code = 1001): void {
    this.#socket.close(code)
  }
}

/** A server on a free port of the loopback. Every request waits until the test takes it and answers. */
export class ScriptedServer {
  readonly url: string
  readonly #requests = new Queue<Received>()
  readonly #handshakes = new Queue<Handshake>()
  readonly #stop: () => Promise<void>

  private constructor(url: string, stop: () => Promise<void>) {
    this.url = url
    this.#stop = stop
  }

  static async start(): Promise<ScriptedServer> {
    const server = createServer()
    const sockets = new Set<Duplex>()
    server.on('connection', (socket) => {
      sockets.add(socket)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo // a server on a port has one
    const scripted = new ScriptedServer(`http://127.0.0.1:${port}`, async () => {
      for (const socket of sockets) socket.destroy()
      await once(server.close(), 'close')
    })
    server.on('request', (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        scripted.#requests.push(new Received(request, Buffer.concat(chunks).toString(), response))
      })
    })
    server.on('upgrade', (request, socket, head) => {
      scripted.#handshakes.push(new Handshake(request, socket, head))
    })
    return scripted
  }

  /** The next request, which must have this line. */
  async next(line: string): Promise<Received> {
    const request = await this.#requests.next()
    if (request.line !== line) throw new Error(`got ${request.line} ${request.body}, want ${line}`)
    return request
  }

  handshake(): Promise<Handshake> {
    return this.#handshakes.next()
  }

  /** How many requests and handshakes wait for the test. */
  get waiting(): number {
    return this.#requests.size + this.#handshakes.size
  }

  close(): Promise<void> {
    return this.#stop()
  }
}
