import { BodyTooLargeError } from './errors.ts'

/**
 * Reads the body of a request, up to a limit (S6). A length that is announced is refused before anything is read; a
 * body without one is counted while it comes.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(request.headers.get('Content-Length') ?? 0) > maxBytes) throw new BodyTooLargeError()
  const chunks: Uint8Array[] = []
  let size = 0
  if (request.body !== null) {
    const reader = request.body.getReader()
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const chunk = part.value as Uint8Array // a Request's body yields nothing else (Fetch §5.2)
      size += chunk.length
      if (size > maxBytes) {
        await reader.cancel()
        throw new BodyTooLargeError()
      }
      chunks.push(chunk)
    }
  }
  return Buffer.concat(chunks, size)
}

/**
 * Whether a body of this content type is read as JSON (CT 3.4 step 3). All lower case, no blank before the first
 * semicolon, and nothing after the type but whole parameters, whose values are anything up to a semicolon (S25). Blanks
 * around it all are gone already: Headers takes them away.
 */
export function isJsonType(contentType: string | null): boolean {
  return contentType !== null && jsonType.test(contentType)
}

const jsonType = /^application\/(?:[a-z.-]+\+)?json(?:;[ \t]*[a-zA-Z0-9-]+=[^;]+)*$/
