import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { sendRequest } from '../../send-request.ts'

/** The function with which the SDK sends requests. */
export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>

/** A response whose head has arrived. */
export interface Exchange {
  response: Response
  /** Resolves when the connection is closed. */
  closed: Promise<void>
}

/** `fetch` for extensions, with the connections of `sendRequest`. */
export async function httpExchange(url: string | URL, init: RequestInit = {}): Promise<Exchange> {
  const { body = null, signal } = init
  if (body !== null && typeof body !== 'string') throw new TypeError('only texts are sent to servers of extensions')
  const headers = Object.fromEntries(new Headers(init.headers))
  let onClosed = (): void => undefined
  const closed = new Promise<void>((resolve) => (onClosed = resolve))
  const message = await sendRequest(new URL(url), { method: init.method ?? 'GET', headers, body, signal, onClosed }).catch((cause: unknown) => {
    signal?.throwIfAborted()
    throw new TypeError('fetch failed', { cause }) // as fetch does
  })
  return { response: responseOf(message), closed }
}

function responseOf(message: IncomingMessage): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = message
  const headers = new Headers()
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '')
  // The constructor rejects a body for these statuses.
  const isBodiless = status === 204 || status === 205 || status === 304
  if (isBodiless) message.resume()
  const body = isBodiless ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>) // two declarations of the same class
  return new Response(body, { status, statusText, headers })
}
