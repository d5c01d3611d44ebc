import { JsonDocument, Parser, decodeStrictly } from './document.ts'
import { JsonSyntaxError, decodeLeniently, parseText } from './parse.ts'
import { inTurns } from './turns.ts'

/*
 * The bodies of requests, which may be large and come from any client: reading one does not block the server, and what it is read into
 * does not take many times its size.
 */

/** Values of the largest body (S29). One takes up to 100 bytes of memory, and two of the text. */
const maxValues = 1_000_000
/** Characters of a text that takes longer than a few milliseconds. */
const largeText = 128 * 1024

/** Says that a body has too many values, and which member of it is at fault, and after how many elements. */
export class TooManyValuesError extends JsonSyntaxError {
  readonly member: string | undefined
  readonly elements: number

  constructor(place: { member: string | undefined; elements: number }) {
    super(`more than ${maxValues} values`)
    this.member = place.member
    this.elements = place.elements
  }
}

/** Reads a body as `parseJson` reads a text. */
export async function parseJsonBody(bytes: Uint8Array): Promise<unknown> {
  const text = decodeLeniently(bytes)
  return text.length > largeText ? (await parsed(text, true)).value : parseText(text)
}

/** Reads a body as `parseJsonDocument` reads a text. */
export async function parseDocumentBody(bytes: Uint8Array): Promise<JsonDocument> {
  const text = decodeStrictly(bytes)
  return new JsonDocument(text, await parsed(text, false))
}

async function parsed(text: string, isPlain: boolean): Promise<{ value: unknown; repeated: Parser['repeated'] }> {
  const parser = new Parser(text, { isPlain })
  const value = await inTurns(parser.steps(() => {
    if (parser.values > maxValues) throw new TooManyValuesError(parser.place())
  }))
  return { value, repeated: parser.repeated }
}
