import { stringifyJson } from '../wire/json/stringify.ts'

const encoder = new TextEncoder()

/** A JSON response without a charset, a byte order mark, or a line feed at the end (CT 3.1). */
export function json(status: number, value: unknown, headers: Record<string, string> = {}): Response {
  return bytes(status, 'application/json', encoder.encode(stringifyJson(value)), headers)
}

/** The same for a value that is already JSON, in pieces. They are not copied, because many slow readers may share them. */
export function jsonPieces(status: number, pieces: readonly Uint8Array[]): Response {
  const left = pieces.values()
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const { value, done } = left.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
    },
    { highWaterMark: 0 },
  )
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return new Response(body, { status, headers: { 'Content-Type': 'application/json', 'Content-Length': String(length) } })
}

export function text(status: number, body: string): Response {
  return bytes(status, 'text/plain; charset=utf-8', encoder.encode(body))
}

export function bytes(status: number, type: string, body: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Response {
  return new Response(body, { status, headers: { 'Content-Type': type, 'Content-Length': String(body.length), ...headers } })
}

/** A response without a body, and therefore without a content type (S2). */
export function empty(status: number, headers: Record<string, string> = {}): Response {
  // A 204 has no Content-Length (RFC 9110 §8.6).
  const length: Record<string, string> = status === 204 ? {} : { 'Content-Length': '0' }
  return new Response(null, { status, headers: { ...length, ...headers } })
}
