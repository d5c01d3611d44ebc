import { ClientToolsError } from './errors.ts'
import { type Http, requestLimit } from './http.ts'
import { isObject, maxBytes, parseJson } from './json.ts'
import type { Scope } from './scope.ts'
import type { OpenStream, StreamEvents } from './streams.ts'
import { readToolRequest } from './tool.ts'

/** What this library uses of a WebSocket. */
export interface Socket {
  binaryType: string
  readonly readyState: number
  send: (data: string) => void
  close: (code?: number) => void
  /** Only the sockets of `ws` have it. */
  terminate?: () => void
  addEventListener: (type: SocketEventType, listener: (event: SocketEvent) => void) => void
  removeEventListener: (type: SocketEventType, listener: (event: SocketEvent) => void) => void
}

const socketEventTypes = ['open', 'message', 'error', 'close'] as const
type SocketEventType = (typeof socketEventTypes)[number]

interface SocketEvent {
  type?: string
  data?: unknown
  code?: number
  message?: string
}

/** The platform's WebSocket, or one with the same interface such as that of the package `ws`. */
export type SocketConstructor = new (url: string, ...options: never[]) => Socket

/** How long the server may take to answer the closing of a socket. */
const closeMs = 2000

/** The stream over a WebSocket (CT 7). */
export function socketStream(http: Http, clientID: string, passed: SocketConstructor | undefined): OpenStream {
  const open = socketOpener(http.headers, passed)
  const url = `${http.baseUrl.replace(/^http/, 'ws')}/client-tools/ws/${encodeURIComponent(clientID)}`
  return (scope, events) => new Promise((resolve) => {
    new SocketStream(open(url), scope, events, resolve)
  })
}

/** A socket until it is lost. `onLost` is called once, with the reason. */
class SocketStream {
  readonly #socket: Socket
  readonly #scope: Scope
  readonly #events: StreamEvents
  readonly #onLost: (reason: unknown) => void
  readonly #listeners: Readonly<Record<SocketEventType, (event: SocketEvent) => void>> = {
    open: () => {
      this.#onOpen()
    },
    message: ({ data }) => {
      this.#onMessage(data)
    },
    error: ({ message }) => {
      const failure = new ClientToolsError(message ?? 'The socket failed')
      // With some versions of Node, no `close` follows a failed handshake.
      if (this.#opened) this.#close(failure)
      else this.#end(failure)
    },
    close: ({ code }) => {
      this.#end(new ClientToolsError(`The socket was closed with code ${code ?? 1006}`))
    },
  }
  readonly #onAbort = (): void => {
    this.#close(this.#scope.signal.reason)
  }
  #timer: ReturnType<typeof setTimeout>
  #opened = false
  /** Why the socket is being closed. */
  #reason: unknown

  constructor(socket: Socket, scope: Scope, events: StreamEvents, onLost: (reason: unknown) => void) {
    this.#socket = socket
    this.#scope = scope
    this.#events = events
    this.#onLost = onLost
    socket.binaryType = 'arraybuffer' // so that a binary message is not read at all
    this.#timer = setTimeout(() => {
      this.#close(new ClientToolsError(requestLimit.reason))
    }, requestLimit.ms)
    for (const type of socketEventTypes) socket.addEventListener(type, this.#listeners[type])
    scope.signal.addEventListener('abort', this.#onAbort)
    if (scope.signal.aborted) this.#onAbort()
  }

  #onOpen(): void {
    if (this.#reason !== undefined) return
    this.#opened = true
    clearTimeout(this.#timer)
    this.#events.onOpen((message) => {
      const isOpen = this.#socket.readyState === 1
      if (isOpen) this.#socket.send(JSON.stringify(message))
      return isOpen
    })
    this.#events.onReady()
  }

  #onMessage(data: unknown): void {
    if (this.#reason !== undefined) return
    if (typeof data === 'string' && isTooLarge(data)) this.#close(new ClientToolsError('A message is larger than 16 MiB'))
    else readMessage(data, this.#events)
  }

  /** Closes the socket; its event `close` follows, or the end of a wait. */
  #close(reason: unknown): void {
    this.#reason ??= reason
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#socket.terminate?.()
      this.#end(reason)
    }, closeMs)
    this.#socket.close(this.#opened ? 1000 : undefined)
  }

  #end(reason: unknown): void {
    clearTimeout(this.#timer)
    this.#scope.signal.removeEventListener('abort', this.#onAbort)
    this.#socket.addEventListener('error', () => undefined) // a socket of `ws` may still fail, which must not throw
    for (const type of socketEventTypes) this.#socket.removeEventListener(type, this.#listeners[type])
    this.#onLost(this.#reason ?? reason)
  }
}

// Each takes other arguments (S56). Browsers cannot send headers: they ignore the third argument, but not the second.
type AnyConstructor = new (url: string, protocols?: unknown, options?: unknown) => Socket

/** How to open a socket: with the constructor of the caller, which takes what `ws` takes, or that of the platform. */
function socketOpener(headers: Readonly<Record<string, string>>, passed?: SocketConstructor): (url: string) => Socket {
  const platform = globalThis as { WebSocket?: AnyConstructor; process?: { versions?: { node?: string } } }
  const Socket = (passed as AnyConstructor | undefined) ?? platform.WebSocket
  if (!Socket) throw new TypeError('This platform has no WebSocket: pass one in the option WebSocket')
  if (passed) return (url) => new Socket(url, [], { headers, maxPayload: maxBytes, perMessageDeflate: false })
  return platform.process?.versions?.node ? (url) => new Socket(url, { headers }) : (url) => new Socket(url)
}

function isTooLarge(text: string): boolean {
  return text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes
}

/** Reads a message of the socket (CT 7, S60). Unknown types are ignored. */
function readMessage(data: unknown, events: StreamEvents): void {
  const message = typeof data === 'string' ? parseJson(data) : undefined
  const { type, request, error } = isObject(message) ? message : {}
  const toolRequest = type === 'request' ? readToolRequest(request) : undefined
  if (toolRequest) events.onRequest(toolRequest)
  else if (type === 'error' && typeof error === 'string') events.onError(new ClientToolsError(error))
  else if (typeof type !== 'string' || type === 'request' || type === 'error') events.onError(new ClientToolsError('Invalid message'))
}
