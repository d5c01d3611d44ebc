import { ClientToolsError } from './errors.ts'
import { type Http, requestLimit } from './http.ts'
import { isObject, maxBytes, parseJson } from './json.ts'
import type { Scope } from './scope.ts'
import { readEvents } from './sse.ts'

/** What a stream tells its connection. */
export interface StreamEvents {
  /** From now on, the server may send requests: `connect` resolves (S57). */
  onReady: () => void
  /** The stream is open. A socket gives a function that sends a message, and returns false when it is no longer open. */
  onOpen: (send?: (message: unknown) => boolean) => void
  /** A request of the server, not checked yet. */
  onRequest: (request: unknown) => void
  /** The server sent something invalid, or an error. The stream continues. */
  onError: (error: ClientToolsError) => void
}

/** Opens a stream, and resolves with the reason when it is lost. Its scope ends it. */
export type OpenStream = (scope: Scope, events: StreamEvents) => Promise<unknown>

/** The stream over HTTP (CT 5.1). */
export function eventStream(http: Http, clientID: string): OpenStream {
  return async (scope, events) => {
    try {
      const path = `/client-tools/pending/${encodeURIComponent(clientID)}`
      const head = http.open(scope, 'GET', path, undefined, 'text/event-stream')
      events.onReady()
      const response = await head
      events.onOpen()
      for await (const { type, data } of readEvents(response.body)) {
        if (type === 'tool-request') events.onRequest(parseJson(data))
      }
      return new ClientToolsError('The stream ended')
    } catch (error) {
      return error
    }
  }
}

/** What this library uses of a WebSocket. */
export interface Socket {
  binaryType: string
  readonly readyState: number
  send: (data: string) => void
  close: (code?: number) => void
  /** Only the sockets of `ws` have it. */
  terminate?: () => void
  addEventListener: (type: 'open' | 'message' | 'error' | 'close', listener: (event: SocketEvent) => void) => void
  removeEventListener: (type: 'open' | 'message' | 'error' | 'close', listener: (event: SocketEvent) => void) => void
}

export interface SocketEvent {
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
    let reason: unknown
    const socket = open(url)
    socket.binaryType = 'arraybuffer' // so that a binary message is not read at all
    let timer = setTimeout(() => {
      end(new ClientToolsError(requestLimit.reason))
    }, requestLimit.ms)
    const end = (cause: unknown): void => {
      reason ??= cause
      clearTimeout(timer)
      timer = setTimeout(() => {
        socket.terminate?.()
        onClose({})
      }, closeMs)
      socket.close(socket.readyState === 1 ? 1000 : undefined)
    }
    const onAbort = (): void => {
      end(scope.signal.reason)
    }
    const onOpen = (): void => {
      if (reason !== undefined) return
      clearTimeout(timer)
      events.onOpen((message) => {
        const isOpen = socket.readyState === 1
        if (isOpen) socket.send(JSON.stringify(message))
        return isOpen
      })
      events.onReady()
    }
    const onMessage = ({ data }: SocketEvent): void => {
      if (reason !== undefined) return
      if (typeof data === 'string' && isTooLarge(data)) end(new ClientToolsError('A message is larger than 16 MiB'))
      else readMessage(data, events)
    }
    const onError = ({ message }: SocketEvent): void => {
      reason ??= new ClientToolsError(message || 'The socket failed') // the event `close` follows
    }
    const onClose = ({ code }: SocketEvent): void => {
      clearTimeout(timer)
      scope.signal.removeEventListener('abort', onAbort)
      socket.removeEventListener('open', onOpen)
      socket.removeEventListener('message', onMessage)
      socket.removeEventListener('close', onClose)
      resolve(reason ?? new ClientToolsError(`The socket was closed with code ${code ?? 1006}`))
    }
    socket.addEventListener('open', onOpen)
    socket.addEventListener('message', onMessage)
    socket.addEventListener('error', onError) // for good: a socket of `ws` may fail after its end
    socket.addEventListener('close', onClose)
    scope.signal.addEventListener('abort', onAbort)
    if (scope.signal.aborted) onAbort()
  })
}

// Each takes other arguments (S56). Browsers cannot send headers: they ignore the third argument, but not the second.
type AnyConstructor = new (url: string, protocols?: unknown, options?: unknown) => Socket

/** How to open a socket: with the constructor of the caller, which takes what `ws` takes, or that of the platform. */
function socketOpener(headers: Readonly<Record<string, string>>, passed?: SocketConstructor): (url: string) => Socket {
  const platform = globalThis as { WebSocket?: AnyConstructor; process?: { versions?: { node?: string } } }
  const Socket = (passed as AnyConstructor | undefined) ?? platform.WebSocket
  if (!Socket) throw new TypeError('This platform has no WebSocket: pass one in the option WebSocket')
  if (passed) return (url) => new Socket(url, [], { headers, maxPayload: maxBytes })
  return platform.process?.versions?.node ? (url) => new Socket(url, { headers }) : (url) => new Socket(url)
}

function isTooLarge(text: string): boolean {
  return text.length * 3 > maxBytes && new TextEncoder().encode(text).length > maxBytes
}

/** Reads a message of the socket (CT 7, S60). Unknown types are ignored. */
function readMessage(data: unknown, events: StreamEvents): void {
  const message = typeof data === 'string' ? parseJson(data) : undefined
  if (!isObject(message) || typeof message.type !== 'string') {
    events.onError(new ClientToolsError('Invalid message'))
  } else if (message.type === 'request') {
    events.onRequest(message.request)
  } else if (message.type === 'error') {
    events.onError(new ClientToolsError(String(message.error)))
  }
}
