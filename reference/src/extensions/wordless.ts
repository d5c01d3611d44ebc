import { isObject } from '../json/is-object.ts'

/** Stands for an error, without its words. */
class WordlessError extends Error {
  override readonly name = 'WordlessError'
}

/**
 * What logs have of an error on the way to an extension: the names and codes of it and of its causes. Libraries, the system
 * and servers put URLs, header fields and variables into their messages, and there are secrets in those.
 */
export function wordless(error: unknown): Error {
  const parts: string[] = []
  for (let one = error; one instanceof Error && parts.length < maxCauses; one = one.cause) parts.push(nameAndCode(one))
  return new WordlessError(parts.join(', caused by ') || typeof error)
}

/** Causes may go in a circle. */
const maxCauses = 10

function nameAndCode(error: Error): string {
  if (error instanceof WordlessError) return error.message
  const code = isObject(error) ? error.code : undefined
  const isCode = typeof code === 'number' || (typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code))
  return isCode ? `${error.name} ${code}` : error.name
}
