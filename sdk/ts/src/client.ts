import type { Logger } from './connection.ts'
import { Http } from './http.ts'
import { ToolManager } from './manager.ts'
import { startSession, type Session, type SessionOptions } from './session.ts'
import { type SocketConstructor, socketStream } from './socket.ts'
import { eventStream } from './streams.ts'

export interface ClientOptions {
  /** The address of the server, such as `http://127.0.0.1:3000`. */
  baseUrl: string
  /** The server's key. It is sent as the header `X-Secret-Key`. */
  secretKey?: string | undefined
  /** Headers that every request has, and the handshake of a socket where the platform can set them. */
  headers?: Readonly<Record<string, string>> | undefined
  /** The name of this client; a random UUID by default. */
  clientID?: string | undefined
  /** How long a handler may run, in milliseconds, before its signal is aborted. 30000 by default. */
  timeout?: number | undefined
  /** How requests arrive: over an event stream (the default) or a WebSocket. */
  transport?: 'sse' | 'websocket' | undefined
  /** A WebSocket for platforms without one, such as Node 20: that of the package `ws`. */
  WebSocket?: SocketConstructor | undefined
  /** Called with what goes wrong in the background, such as a result that could not be sent, and with the error that ends a connection. */
  onError?: ((error: unknown) => void) | undefined
  /** Called before each wait after a lost stream; attempts count from 1. */
  onReconnect?: ((attempt: number, waitMs: number) => void) | undefined
  logger?: Logger | undefined
}

export interface Client {
  readonly clientID: string
  /** The tools that this client offers. */
  readonly tools: ToolManager
  /** Creates a session whose model may call the tools, and connects them (S63). */
  startSession: (options?: SessionOptions) => Promise<Session>
}

export function createClient(options: ClientOptions): Client {
  const { baseUrl, secretKey, headers, clientID = randomUUID(), timeout = 30_000, transport = 'sse' } = options
  if (clientID === '' || clientID === '.' || clientID === '..') {
    throw new TypeError(`clientID is ${JSON.stringify(clientID)}, which cannot be part of a path: write a name`)
  }
  const http = new Http(baseUrl, { ...headers, ...(secretKey === undefined ? {} : { 'X-Secret-Key': secretKey }) })
  const logger = options.logger ?? { debug: () => undefined, warn: () => undefined }
  const tools = new ToolManager({
    http, clientID, timeout, logger,
    openStream: transport === 'sse' ? eventStream(http, clientID) : socketStream(http, clientID, options.WebSocket),
    // An error in the caller's functions must not end the connection: it is an uncaught one, as in an event listener.
    onError: (error) => {
      logger.warn('error', { error })
      queueMicrotask(() => options.onError?.(error))
    },
    onReconnect: (attempt, waitMs) => {
      queueMicrotask(() => options.onReconnect?.(attempt, waitMs))
    },
  })
  return { clientID, tools, startSession: (session) => startSession(http, tools, session) }
}

/** A random UUID, version 4. In browsers, `crypto.randomUUID` exists only in pages of HTTPS or of `localhost`. */
function randomUUID(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const [version = 0, variant = 0] = [bytes[6], bytes[8]]
  bytes.set([(version & 0x0f) | 0x40], 6)
  bytes.set([(variant & 0x3f) | 0x80], 8)
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
