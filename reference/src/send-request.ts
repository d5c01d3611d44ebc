import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'

interface OutgoingRequest {
  method: string
  headers: Readonly<Record<string, string>>
  body: string | null
  signal?: AbortSignal | null | undefined
  /** Called when the connection is closed. */
  onClosed?: (() => void) | undefined
}

/**
 * Sends a request, and resolves with the head of the response, whatever its status. Follows no redirects.
 *
 * This uses node:http, because fetch has its own time limits, and rejects ports that a local server may use. Each request has its
 * own connection: the other side may close a kept connection just when it is reused.
 */
export function sendRequest(url: URL, { method, headers, body, signal, onClosed }: OutgoingRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = body === null ? {} : { 'Content-Length': Buffer.byteLength(body) }
    const options = { method, headers: { ...headers, ...length }, agent: false, ...(signal && { signal }) }
    const request = url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options)
    request.on('response', resolve)
    request.on('close', () => {
      onClosed?.()
      reject(new Error('the connection was closed before a response')) // by Node, for instance, when the other side changes the protocol
    })
    // Errors after the response has begun are reported to its reader.
    request.on('error', reject)
    request.end(body ?? undefined)
  })
}

/** All bytes of a body, or undefined if there are more than `max`. */
export async function bytesUpTo(max: number, chunks: AsyncIterable<Uint8Array>): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > max) return undefined
    parts.push(chunk)
  }
  return Buffer.concat(parts)
}
