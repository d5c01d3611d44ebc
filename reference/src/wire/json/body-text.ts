import { decodeInSlices, documentInSlices, parseDocumentInSlices, type JsonDocument } from './document.ts'
import { parseText } from './parse.ts'

/*
 * Reads request bodies, which may be large and come from any client. Reading must not block the server. The result must not take
 * many times the memory of the text.
 */

/** The most values in a body (S51). A value takes up to 100 bytes of memory, and two bytes of text. */
const maxValues = 1_000_000
/** A text with at most this many characters takes a few milliseconds, and cannot have too many values. */
const largeText = 128 * 1024

/** Parses a body like `parseJson`. Rejects with a TooManyValuesError, which contains the length of the member named `counted`. */
export async function parseJsonBody(bytes: Uint8Array, counted?: string): Promise<unknown> {
  const text = await decodeInSlices(bytes, new TextDecoder('utf-8'))
  if (text.length <= largeText) return parseText(text)
  return (await documentInSlices(text, { isPlain: true, maxValues, counted })).value
}

/** Parses a body like `parseJsonDocument`. */
export function parseDocumentBody(bytes: Uint8Array): Promise<JsonDocument> {
  return parseDocumentInSlices(bytes, { maxValues })
}

/**
 * Parses a body that `parseJsonBody` has accepted, as the goose server reads values that it passes on: with the digits of its numbers
 * and the order of its keys (G2). Unpaired surrogates become U+FFFD.
 */
export async function parseExactBody(bytes: Uint8Array): Promise<unknown> {
  return (await documentInSlices(await decodeInSlices(bytes, new TextDecoder('utf-8')), { isLenient: true })).value
}
