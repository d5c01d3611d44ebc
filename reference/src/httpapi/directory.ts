import type { InvalidTypeIssue } from '#contract'
import { ValidationError } from './errors.ts'
import { queryValues } from './url-path.ts'

/**
 * The directory of a request (CT 3.6): the query parameter `directory`, else the header, else the server's own. An empty value
 * counts as missing, and paths are not normalised (S4). Throws a ValidationError if the query contains two directories (CT 3.4).
 */
export function directoryOf(request: Request, fallback: string): string {
  const named = queryValues(request.url, 'directory')
  if (named.length > 1) throw new ValidationError({ directory: named }, [repeated])
  return named[0] || directoryHeader(request) || fallback
}

/** Header values are bytes, which the platform decodes as Latin-1. A path is UTF-8. */
function directoryHeader(request: Request): string {
  return Buffer.from(request.headers.get('x-opencode-directory') ?? '', 'latin1').toString('utf8')
}

const repeated: InvalidTypeIssue = {
  expected: 'string',
  code: 'invalid_type',
  path: ['directory'],
  message: 'Invalid input: expected string, received array',
}
