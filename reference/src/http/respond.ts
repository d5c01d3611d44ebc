import { stringifyJson } from '../json/stringify.ts'

const encoder = new TextEncoder()

/** A JSON answer: no charset, no byte order mark, no line feed at the end (CT 3.1). */
export function json(status: number, value: unknown): Response {
  return withBody(status, 'application/json', stringifyJson(value))
}

export function text(status: number, body: string): Response {
  return withBody(status, 'text/plain; charset=utf-8', body)
}

export function bytes(status: number, type: string, body: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Response {
  return new Response(body, { status, headers: { 'Content-Type': type, 'Content-Length': String(body.length), ...headers } })
}

/** An answer without a body, which therefore has no content type either (S2). */
export function empty(status: number, headers: Record<string, string> = {}): Response {
  // A 204 has no Content-Length (RFC 9110 §8.6).
  const length: Record<string, string> = status === 204 ? {} : { 'Content-Length': '0' }
  return new Response(null, { status, headers: { ...length, ...headers } })
}

function withBody(status: number, type: string, body: string): Response {
  return bytes(status, type, encoder.encode(body))
}
