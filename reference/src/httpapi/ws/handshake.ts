import { createHash } from 'node:crypto'
import type { EventStream } from '../sse/event-stream.ts'
import { empty } from '../response.ts'

/** A socket that is open as soon as the head of this response is written. */
export interface SocketSession {
  /** The messages to the client, as frames. */
  stream: EventStream
  /** Handles a message of the client. It must not fail. */
  handle: (text: Uint8Array) => Promise<void>
  /** The time between two pings, in milliseconds. */
  keepaliveInterval: number
}

/** The response 101. Its status here is 200, because a Response has no other before 200 (Fetch §5.5). */
export class SocketResponse extends Response {
  readonly session: SocketSession

  constructor(key: string, session: SocketSession) {
    const accept = createHash('sha1').update(key + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64')
    super(session.stream.body, { headers: { Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Accept': accept } })
    this.session = session
  }
}

/** The key of a correct handshake, or else the response to the request (S15). */
export function checkHandshake({ method, headers }: Request): { key: string } | Response {
  const isUpgrade = method === 'GET' && names(headers.get('Upgrade'), 'websocket') && names(headers.get('Connection'), 'upgrade')
  if (!isUpgrade) return empty(426, { Upgrade: 'websocket' })
  if (headers.get('Sec-WebSocket-Version') !== '13') return empty(426, { Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' })
  const key = headers.get('Sec-WebSocket-Key') ?? ''
  return /^[A-Za-z0-9+/]{21}[AQgw]==$/.test(key) ? { key } : empty(400)
}

/** Whether a list in a header field has this name, in any case. */
function names(field: string | null, name: string): boolean {
  return field?.split(',').some((item) => item.trim().toLowerCase() === name) === true
}
