import { stringifyJson } from '../json/stringify.ts'

const encoder = new TextEncoder()

/** A JSON answer: no charset, no byte order mark, no line feed at the end (CT 3.1). */
export function json(status: number, value: unknown, headers: Record<string, string> = {}): Response {
  return jsonText(status, encoder.encode(stringifyJson(value)), headers)
}

/** The same for a value that is JSON already. */
export function jsonText(status: number, body: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Response {
  return bytes(status, 'application/json', body, headers)
}

export function text(status: number, body: string): Response {
  return bytes(status, 'text/plain; charset=utf-8', encoder.encode(body))
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
