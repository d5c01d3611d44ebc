import { decodeInSlices, documentInSlices, parseDocumentInSlices } from './document.ts'
import type { JsonDocument } from './document.ts'
import { parseText } from './parse.ts'

/*
 * The bodies of requests, which may be large and come from any client: reading one does not block the server, and what it is read into
 * does not take many times its size.
 */

/** Values of the largest body (S51). One takes up to 100 bytes of memory, and two of the text. */
const maxValues = 1_000_000
/** Characters of a text that takes longer than a few milliseconds. It has fewer values. */
const largeText = 128 * 1024

/** Reads a body as `parseJson` reads a text. Rejects with a TooManyValuesError, which has the length of the `counted` member. */
export async function parseJsonBody(bytes: Uint8Array, counted?: string): Promise<unknown> {
  const text = await decodeInSlices(bytes, new TextDecoder('utf-8'))
  if (text.length <= largeText) return parseText(text)
  return (await documentInSlices(text, { isPlain: true, maxValues, counted })).value
}

/** Reads a body as `parseJsonDocument` reads a text. */
export function parseDocumentBody(bytes: Uint8Array): Promise<JsonDocument> {
  return parseDocumentInSlices(bytes, { maxValues })
}
