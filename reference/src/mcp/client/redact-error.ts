import { isObject } from '../../wire/json/is-object.ts'

/** An error without its original message. */
class RedactedError extends Error {
  override readonly name = 'RedactedError'
}

/**
 * An error on the way to an extension, as logs show it: with the names and codes of the error and its causes. Messages of
 * libraries, the system and servers may contain URLs, header fields and variables, and therefore secrets.
 */
export function redactError(error: unknown): Error {
  const parts: string[] = []
  for (let one = error; one instanceof Error && parts.length < maxCauses; one = one.cause) parts.push(nameAndCode(one))
  return new RedactedError(parts.join(', caused by ') || typeof error)
}

/** Causes may form a cycle. */
const maxCauses = 10

function nameAndCode(error: Error): string {
  if (error instanceof RedactedError) return error.message
  const code = isObject(error) ? error.code : undefined
  const isCode = typeof code === 'number' || (typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code))
  return isCode ? `${error.name} ${code}` : error.name
}
