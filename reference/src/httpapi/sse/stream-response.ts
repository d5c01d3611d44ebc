/** The headers of every event stream (CT 5), without a charset or a length. */
const headers = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache',
  Connection: 'keep-alive',
}

/** The response with an event stream. If `stream` is null, the response to HEAD, which has no body (S10). */
export function streamResponse(stream: { body: ReadableStream<Uint8Array> } | null, more: Record<string, string> = {}): Response {
  return new Response(stream?.body ?? null, { headers: { ...headers, ...more } })
}
