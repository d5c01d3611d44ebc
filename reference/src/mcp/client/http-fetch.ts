import { request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'

/** The function with which the SDK sends requests. */
export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>

/**
 * `fetch` for extensions. The global one gives up after five minutes without data, whatever the time limit of the extension. It
 * also rejects ports that a local server may use. This one follows no redirects. Each request has its own connection, because the
 * other side may close a kept one just when it is reused. `onClosed` is called when the connection is closed.
 */
export async function httpFetch(url: string | URL, init: RequestInit = {}, onClosed?: () => void): Promise<Response> {
  const target = new URL(url)
  const { body = null, signal } = init
  if (body !== null && typeof body !== 'string') throw new TypeError('only texts are sent to servers of extensions')
  const headers = Object.fromEntries(new Headers(init.headers))
  const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const options = { method: init.method ?? 'GET', headers: { ...headers, ...length }, agent: false, ...(signal && { signal }) }
  const message = await send(target, options, body, onClosed)
  return responseOf(message)
}

function send(url: URL, options: RequestOptions, body: string | null, onClosed?: () => void): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request: ClientRequest = url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options)
    request.on('response', resolve)
    request.on('close', () => onClosed?.())
    // Errors after the response has begun are reported to its reader.
    request.on('error', (cause) => {
      reject(options.signal?.aborted === true ? (options.signal.reason as Error) : new TypeError('fetch failed', { cause })) // as fetch does
    })
    request.end(body ?? undefined)
  })
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
