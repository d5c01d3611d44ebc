import type { InvalidTypeIssue } from '#contract'
import { ValidationError } from './errors.ts'
import { queryValues } from './url-path.ts'

/**
 * The directory that a request is about (CT 3.6): the query parameter `directory`, else the header, else the server's
 * own. Empty counts as missing and nothing is cleaned (S4). Throws a ValidationError when the query names two (CT 3.4).
 */
export function directoryOf(request: Request, fallback: string): string {
  const named = queryValues(request.url, 'directory')
  if (named.length > 1) throw new ValidationError({ directory: named }, [repeated])
  return named[0] || directoryHeader(request) || fallback
}

/** Header values are bytes, which the platform shows as Latin-1; a path is UTF-8. */
function directoryHeader(request: Request): string {
  return Buffer.from(request.headers.get('x-opencode-directory') ?? '', 'latin1').toString('utf8')
}

const repeated: InvalidTypeIssue = {
  expected: 'string',
  code: 'invalid_type',
  path: ['directory'],
  message: 'Invalid input: expected string, received array',
}
