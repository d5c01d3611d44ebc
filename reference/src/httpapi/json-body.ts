import type { OversizedBodyText, UnexpectedShapeText, UnparsableBodyText, UnsupportedBodyText } from '#contract'
import { parseDocumentBody } from '../wire/json/body-text.ts'
import type { JsonDocument } from '../wire/json/document.ts'
import { JsonSyntaxError } from '../wire/json/parse.ts'
import { ShapeError, readShape, type Shape } from '../wire/json/shape.ts'
import { readBody } from './body.ts'
import { BodyTooLargeError } from './errors.ts'
import { anyError, type ErrorsOf } from './goose-errors.ts'

/** The most bytes of a JSON body, except that of `/reply` (GA 2.5). */
export const maxJsonBody = 2 * 1024 * 1024
/** The most bytes of the body of `/reply`. */
export const maxReplyBody = 50 * 1024 * 1024

/** The errors that reading a JSON body may cause. An operation may have more errors of status 400. */
export interface BodyErrors {
  400: UnparsableBodyText
  408: unknown
  413: OversizedBodyText
  415: UnsupportedBodyText
  422: UnexpectedShapeText
  503: unknown
}

const errors: ErrorsOf<BodyErrors> = anyError

/**
 * Reads the JSON body of a request to a goose operation (GA 2.5). It checks the content type, then the size, then the syntax,
 * then the shape, and throws the error for the first mistake.
 */
export async function readJsonBody<T>(request: Request, shape: Shape<T>, maxBytes = maxJsonBody): Promise<T> {
  if (!isJsonMediaType(request.headers.get('Content-Type'))) {
    throw errors.text(415, 'Expected request with `Content-Type: application/json`')
  }
  const document = await parse(await readLimited(request, maxBytes))
  try {
    return readShape(shape, document.value, document)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    throw errors.text(422, `Failed to deserialize the JSON body into the target type: ${error.message}`, { cause: error })
  }
}

async function readLimited(request: Request, maxBytes: number): Promise<Uint8Array> {
  try {
    return await readBody(request, maxBytes)
  } catch (error) {
    if (!(error instanceof BodyTooLargeError)) throw error
    throw errors.text(413, 'Failed to buffer the request body: length limit exceeded', { cause: error })
  }
}

async function parse(bytes: Uint8Array): Promise<JsonDocument> {
  try {
    return await parseDocumentBody(bytes)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    // Parsers disagree about the position of a mistake, so the response does not name one (G1).
    throw errors.text(400, 'Failed to parse the request body as JSON: invalid JSON', { cause: error })
  }
}

/**
 * Whether this is `application/json` or `application/*+json`, with any parameters, in the grammar of media types (RFC 9110
 * §8.3.1, G9). An invalid type counts as missing.
 */
export function isJsonMediaType(contentType: string | null): boolean {
  return contentType !== null && mediaType.test(contentType) && /^application\/(?:[^;\s]+\+)?json[\t ]*(?:;|$)/i.test(contentType)
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const quoted = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"'
const parameter = `${token}=(?:${token}|${quoted})`
const mediaType = new RegExp(`^${token}/${token}(?:[\\t ]*;[\\t ]*(?:${parameter})?)*[\\t ]*$`)
