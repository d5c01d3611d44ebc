import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { bytesUpTo } from '../../send-request.ts'
import { within } from '../../within.ts'
import { NotSignedInError, UnauthorizedError, sendAuthorized, type Authorization } from './authorization.ts'
import { ProtocolViolationError, maxMessageBytes, replacedMessages } from './event-messages.ts'
import { ExactMessages } from './exact-messages.ts'
import { httpExchange, type Exchange, type FetchLike } from './http-fetch.ts'
import { OpenPosts, type Post } from './open-posts.ts'
import { cancelledId, isUnexpectedAnswer } from './rpc-message.ts'

/** How long a server may take to confirm the end of its session, or a cancellation. */
const goodbyeMs = 1000

/** MCP over HTTP. It wraps the SDK's transport, and adds exact numbers and size limits (G2, X12). */
export class HttpTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #messages = new ExactMessages()
  readonly #posts = new OpenPosts()
  readonly #inner: Transport
  readonly #kind: 'streamable' | 'sse'
  readonly #authorization: Authorization | undefined
  #closing = false

  private constructor(kind: 'streamable' | 'sse', make: (fetch: FetchLike) => Transport, authorization?: Authorization) {
    this.#kind = kind
    this.#authorization = authorization
    this.#inner = make((url, init) => this.#fetch(url, init))
    this.#inner.onclose = () => {
      this.#posts.abortAll()
      this.onclose?.()
    }
    this.#inner.onerror = (error) => this.onerror?.(error)
    this.#inner.onmessage = (message) => {
      if (!isUnexpectedAnswer(message)) this.onmessage?.(this.#messages.unmarked(message))
    }
  }

  static streamable(url: URL, headers: Record<string, string>, authorization?: Authorization): HttpTransport {
    // By default the SDK itself follows redirects within the server; `follow` leaves them to `fetch`.
    const options = { requestInit: { headers }, redirectPolicy: 'follow' as const }
    return new HttpTransport('streamable', (fetch) => new StreamableHTTPClientTransport(url, { ...options, fetch }), authorization)
  }

  static sse(url: URL): HttpTransport {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- there are servers that speak nothing else
    return new HttpTransport('sse', (fetch) => new SSEClientTransport(url, { fetch, redirectPolicy: 'follow' }))
  }

  start(): Promise<void> {
    return this.#inner.start()
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#messages.send(message, (standIn, text) => {
      const id = cancelledId(message)
      return id === undefined ? this.#inner.send(standIn) : this.#cancel(id, standIn, text)
    })
  }

  /** Sends a cancellation (X7), and then closes the connection of the request. */
  async #cancel(id: number, standIn: JSONRPCMessage, text: string): Promise<void> {
    const timer = setTimeout(() => {
      this.#posts.abort(text)
    }, goodbyeMs)
    try {
      await this.#inner.send(standIn)
    } finally {
      clearTimeout(timer)
      this.#posts.cancel(id)
    }
  }

  /** Ends the server's session if there is one. It waits only a short time for the response. */
  async close(): Promise<void> {
    const inner = this.#inner
    if (inner instanceof StreamableHTTPClientTransport && inner.sessionId !== undefined && !this.#closing) {
      this.#closing = true
      await within(goodbyeMs, inner.terminateSession().catch(() => undefined))
    }
    await inner.close()
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }

  async #fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const { body } = init
    const post = typeof body === 'string' ? this.#posts.open(body, init.signal) : undefined
    const response = await (post === undefined ? this.#exchange(url, init) : this.#post(url, init, post))
    const type = (response.headers.get('Content-Type') ?? '').split(';')[0]?.trim().toLowerCase()
    if (response.status !== 200 || response.body === null) return response
    const chunks = response.body as ReadableStream<Uint8Array>
    if (type === 'text/event-stream') return withBody(response, ReadableStream.from(this.#guarded(chunks, post)))
    if (init.method === 'POST') return type === 'application/json' ? withBody(response, await this.#document(chunks)) : response
    await chunks.cancel()
    if (this.#kind === 'sse') throw this.#givenUp(new ProtocolViolationError('what came is no event stream'))
    return noStream()
  }

  async #post(url: string | URL, init: RequestInit, post: Post): Promise<Response> {
    try {
      return await this.#exchange(url, { ...init, body: this.#messages.textOf(post.text), signal: post.over.signal }, post)
    } catch (error) {
      this.#posts.closed(post) // it may never have been opened
      throw error
    }
  }

  /** Sends a request, with the token of the connection if it has one. */
  async #exchange(url: string | URL, init: RequestInit, post?: Post): Promise<Response> {
    const exchange = await this.#authorized(init, post, (more) => httpExchange(url, { ...init, ...more }))
    void exchange.closed.then(() => {
      if (post !== undefined) this.#posts.closed(post)
    })
    const { response } = exchange
    const [isFirst, asksForSignIn] = [post?.isFirst === true, response.headers.has('WWW-Authenticate')]
    const wantsToken = this.#authorization !== undefined || (isFirst && asksForSignIn)
    if (this.#kind === 'sse' || response.status !== 401 || !wantsToken) return response
    await response.body?.cancel()
    if (isFirst) throw new UnauthorizedError(new URL(url).origin, asksForSignIn)
    if (post === undefined) return noStream() // or it is a DELETE, whose answer is not read
    throw new NotSignedInError()
  }

  async #authorized(init: RequestInit, post: Post | undefined, send: (more: RequestInit) => Promise<Exchange>): Promise<Exchange> {
    if (this.#authorization === undefined) return send({})
    const mayRenew = init.method !== 'DELETE' && post?.isFirst !== true
    return sendAuthorized(this.#authorization, mayRenew, (token) => {
      init.signal?.throwIfAborted()
      const headers = new Headers(init.headers)
      headers.set('Authorization', `Bearer ${token}`)
      return send({ headers })
    })
  }

  /** The events of a stream, up to the first protocol violation. */
  async *#guarded(chunks: ReadableStream<Uint8Array>, post: Post | undefined): AsyncGenerator<Uint8Array> {
    try {
      yield* replacedMessages(chunks, (data) => this.#marked(data))
    } catch (error) {
      if (post?.isCancelled !== true) throw this.#givenUp(error)
      // The SDK ignores this response. Without a response it would open the stream again.
      yield Buffer.from(`data: {"jsonrpc":"2.0","id":${post.id},"result":{}}\n\n`)
    }
  }

  /** The text of a response that is a single document. */
  async #document(chunks: ReadableStream<Uint8Array>): Promise<string> {
    try {
      const bytes = await bytesUpTo(maxMessageBytes, chunks)
      if (bytes === undefined) throw new ProtocolViolationError('a message is too large')
      return this.#marked(bytes)
    } catch (error) {
      throw this.#givenUp(error)
    }
  }

  #marked(data: Uint8Array): string {
    try {
      return this.#messages.marked(data)
    } catch (cause) {
      throw new ProtocolViolationError('what came is no JSON-RPC', { cause })
    }
  }

  /** Closes the connection to a server that violates the protocol (X12), after the error is reported. */
  #givenUp(error: unknown): unknown {
    if (error instanceof ProtocolViolationError) {
      this.onerror?.(error)
      setImmediate(() => void this.close().catch(() => undefined))
    }
    return error
  }
}

/** The client works without this stream (X36). */
function noStream(): Response {
  return new Response(null, { status: 405 })
}

function withBody({ status, statusText, headers }: Response, body: string | ReadableStream): Response {
  return new Response(body, { status, statusText, headers })
}
