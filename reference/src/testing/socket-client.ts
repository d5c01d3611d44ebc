import { once } from 'node:events'
import { RawClient, request } from './raw-client.ts'

/** A frame of the server: its first byte, and its payload with one character for each byte. */
export interface ServerFrame {
  first: number
  payload: string
}

/** A correct handshake for this path. */
export function handshake(path: string, headers: string[] = []): string {
  const upgrade = ['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
  return request(`GET ${path}`, [...upgrade, ...headers])
}

/** A frame as a client sends it, with one character for each byte. */
export function clientFrame(first: number, payload: string, length = payload.length): string {
  const mask = [0x12, 0x34, 0x56, 0x78]
  const size = length < 126 ? [length] : length < 65536 ? [126, length >> 8, length & 255] : [127, ...bytes(length)]
  const head = [first, (size[0] ?? 0) | 0x80, ...size.slice(1), ...mask]
  const masked = Array.from(payload, (c, i) => String.fromCharCode(c.charCodeAt(0) ^ (mask[i & 3] ?? 0))).join('')
  return String.fromCharCode(...head) + masked
}

function bytes(length: number): Buffer {
  const buffer = Buffer.alloc(8)
  buffer.writeBigUInt64BE(BigInt(length))
  return buffer
}

/** A text as the payload of a frame. */
export function utf8(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** The payload of a close with this code. */
export function code(value: number): string {
  return String.fromCharCode(value >> 8, value & 255)
}

/** A WebSocket on which a test reads and writes frames. */
export class SocketClient {
  readonly raw: RawClient

  private constructor(raw: RawClient) {
    this.raw = raw
  }

  static async open(url: string, clientID: string, query = ''): Promise<SocketClient> {
    const raw = await RawClient.open(url)
    raw.send(handshake(`/client-tools/ws/${clientID}${query}`))
    const head = await raw.head()
    if (!head.startsWith('HTTP/1.1 101 ')) throw new Error(head)
    return new SocketClient(raw)
  }

  frame(first: number, payload = ''): void {
    this.raw.send(clientFrame(first, payload))
  }

  send(message: unknown): void {
    this.frame(0x81, utf8(JSON.stringify(message)))
  }

  /** The next frame of the server, which must not be masked. */
  async next(): Promise<ServerFrame> {
    const [first, size] = Buffer.from(await this.#take(2), 'latin1') as unknown as [number, number]
    const more = size === 126 ? 2 : size === 127 ? 8 : 0
    const length = more === 0 ? size : Buffer.from(await this.#take(more), 'latin1').readUIntBE(more === 8 ? 2 : 0, more === 8 ? 6 : 2)
    return { first, payload: await this.#take(length) }
  }

  /** The JSON of the next message. */
  async message(): Promise<unknown> {
    const { first, payload } = await this.next()
    if (first !== 0x81) throw new Error(`not a text frame: ${first} ${JSON.stringify(payload)}`)
    return JSON.parse(Buffer.from(payload, 'latin1').toString())
  }

  async #take(length: number): Promise<string> {
    while (this.raw.received.length < length) {
      if (this.raw.socket.readableEnded || this.raw.socket.destroyed) throw new Error('the connection ended within a frame')
      await Promise.race([once(this.raw.socket, 'data'), once(this.raw.socket, 'end'), once(this.raw.socket, 'close')])
    }
    const taken = this.raw.received.slice(0, length)
    this.raw.received = this.raw.received.slice(length)
    return taken
  }
}
