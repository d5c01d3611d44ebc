import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { BrokenRulesError, maxMessageBytes, replacedMessages } from './event-messages.ts'
import { ExactMessages } from './exact-messages.ts'
import { httpFetch } from './http-fetch.ts'
import type { FetchLike } from './http-fetch.ts'
import { isAnswerToNobody } from './rpc-message.ts'

/** How long a server has to answer that its session is over. */
const goodbyeMs = 1000

/** MCP over HTTP, by the SDK, with the digits of numbers and the bounds that the SDK does not have (G2, X12). */
export class HttpTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #messages = new ExactMessages()
  readonly #inner: Transport
  readonly #kind: 'streamable' | 'sse'
  #closing = false

  private constructor(kind: 'streamable' | 'sse', make: (fetch: FetchLike) => Transport) {
    this.#kind = kind
    this.#inner = make((url, init) => this.#fetch(url, init))
    this.#inner.onclose = () => this.onclose?.()
    this.#inner.onerror = (error) => this.onerror?.(error)
    this.#inner.onmessage = (message) => {
      if (!isAnswerToNobody(message)) this.onmessage?.(this.#messages.unmarked(message))
    }
  }

  static streamable(url: URL, headers: Record<string, string>): HttpTransport {
    // The SDK follows redirects within the server, unless it leaves them to `fetch`.
    const options = { requestInit: { headers }, redirectPolicy: 'follow' as const }
    return new HttpTransport('streamable', (fetch) => new StreamableHTTPClientTransport(url, { ...options, fetch }))
  }

  static sse(url: URL): HttpTransport {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- there are servers that speak nothing else
    return new HttpTransport('sse', (fetch) => new SSEClientTransport(url, { fetch, redirectPolicy: 'follow' }))
  }

  start(): Promise<void> {
    return this.#inner.start()
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#messages.send(message, (standIn) => this.#inner.send(standIn))
  }

  /** Ends the session that the server keeps, if there is one and it answers soon. */
  async close(): Promise<void> {
    const inner = this.#inner
    if (inner instanceof StreamableHTTPClientTransport && inner.sessionId !== undefined && !this.#closing) {
      this.#closing = true
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, goodbyeMs)))
      await Promise.race([inner.terminateSession().catch(() => undefined), late])
      clearTimeout(timer)
    }
    await inner.close()
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version)
  }

  async #fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const { body } = init
    const response = await httpFetch(url, typeof body === 'string' ? { ...init, body: this.#messages.textOf(body) } : init)
    const type = (response.headers.get('Content-Type') ?? '').split(';')[0]?.trim().toLowerCase()
    if (response.status !== 200 || response.body === null) return response
    const chunks = response.body as ReadableStream<Uint8Array>
    if (type === 'text/event-stream') return withBody(response, ReadableStream.from(this.#guarded(chunks)))
    if (init.method === 'POST') return type === 'application/json' ? withBody(response, await this.#document(chunks)) : response
    await chunks.cancel()
    if (this.#kind === 'sse') throw this.#givenUp(new BrokenRulesError('what came is no event stream'))
    return new Response(null, { status: 405 }) // without such a stream one does without (X36)
  }

  /** The events of a stream, up to the first that breaks the rules. */
  async *#guarded(chunks: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* replacedMessages(chunks, (data) => this.#marked(data))
    } catch (error) {
      throw this.#givenUp(error)
    }
  }

  /** The text of an answer that is one document. */
  async #document(chunks: ReadableStream<Uint8Array>): Promise<string> {
    const parts: Uint8Array[] = []
    let size = 0
    try {
      for await (const chunk of chunks) {
        size += chunk.length
        if (size > maxMessageBytes) throw new BrokenRulesError('a message is too large')
        parts.push(chunk)
      }
      return this.#marked(Buffer.concat(parts))
    } catch (error) {
      throw this.#givenUp(error)
    }
  }

  #marked(data: Uint8Array): string {
    try {
      return this.#messages.marked(data)
    } catch (cause) {
      throw new BrokenRulesError('what came is no JSON-RPC', { cause })
    }
  }

  /** Whoever breaks the rules is not listened to any more (X12), as soon as the error has been told. */
  #givenUp(error: unknown): unknown {
    if (error instanceof BrokenRulesError) {
      this.onerror?.(error)
      setImmediate(() => void this.close().catch(() => undefined))
    }
    return error
  }
}

function withBody({ status, statusText, headers }: Response, body: string | ReadableStream): Response {
  return new Response(body, { status, statusText, headers })
}
