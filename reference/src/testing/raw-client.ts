import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection on which a test reads and writes bytes. Texts have one character for each byte. */
export class RawClient {
  readonly socket: Socket
  /** The bytes that have arrived and have not been read by the test. */
  received = ''

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (bytes) => (this.received += bytes.toString('latin1')))
    socket.on('error', () => undefined) // some tests cause a reset
  }

  static async open(url: string): Promise<RawClient> {
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname.replace(/[[\]]/g, ''), port: Number(port), allowHalfOpen: true })
    await once(socket, 'connect')
    return new RawClient(socket)
  }

  send(text: string): void {
    this.socket.write(Buffer.from(text, 'latin1'))
  }

  /** Waits for a text, and takes all bytes up to its end. */
  async until(text: string): Promise<string> {
    for (;;) {
      const at = this.received.indexOf(text)
      if (at !== -1) {
        const taken = this.received.slice(0, at + text.length)
        this.received = this.received.slice(taken.length)
        return taken
      }
      if (this.socket.readableEnded || this.socket.destroyed) {
        throw new Error(`the connection ended before ${JSON.stringify(text)}: ${JSON.stringify(this.received)}`)
      }
      await this.#any('data', 'end', 'close')
    }
  }

  /** The status line and the headers of the next response. */
  async head(): Promise<string> {
    return this.until('\r\n\r\n')
  }

  /** The next response, which must have a length. */
  async answer(): Promise<{ status: number; head: string; body: string }> {
    const head = await this.head()
    const length = Number(/^content-length: (\d+)\r$/im.exec(head)?.[1] ?? NaN)
    while (this.received.length < length) await once(this.socket, 'data')
    const body = this.received.slice(0, length)
    this.received = this.received.slice(length)
    return { status: Number(head.slice(9, 12)), head, body }
  }

  /** Waits until the other side has ended the connection, and returns the rest. */
  async ended(): Promise<string> {
    if (!this.socket.readableEnded && !this.socket.destroyed) {
      await this.#any('end', 'close')
    }
    return this.received
  }

  close(): void {
    this.socket.destroy()
  }

  /** Waits for the first of these events, and then removes all listeners. */
  async #any(...events: string[]): Promise<void> {
    const heard = new AbortController()
    await Promise.race(events.map((event) => once(this.socket, event, { signal: heard.signal })))
    heard.abort()
  }
}

/** The text of a request with these header lines. */
export function request(line: string, headers: string[] = [], body = ''): string {
  return `${line} HTTP/1.1\r\n${['Host: x', ...headers].map((header) => header + '\r\n').join('')}\r\n${body}`
}
