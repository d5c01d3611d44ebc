/** The head of every event stream (CT 5): no charset, no length. */
const headers = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache',
  Connection: 'keep-alive',
}

/** Answers with an event stream; without one, with its head alone, as HEAD asks for (S10). */
export function streamResponse(stream: { body: ReadableStream<Uint8Array> } | null, more: Record<string, string> = {}): Response {
  return new Response(stream?.body ?? null, { headers: { ...headers, ...more } })
}
