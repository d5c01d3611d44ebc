import { codedError, internalError, plainError } from './handlers/client-tools/error-response.ts'
import { StatusError, gooseError } from './httpapi/goose-errors.ts'
import { isClientToolsPath } from './httpapi/path-family.ts'
import { empty, json } from './httpapi/response.ts'
import type { ErrorHandler } from './httpapi/router.ts'
import type { Logger } from './log.ts'

const executePath = '/client-tools/execute'

/** Makes the responses to errors that handlers throw. Each family of paths has its own format. */
export function errorHandler(logger: Logger): ErrorHandler {
  return (error, request, path) => {
    const known = knownError(error, path)
    if (known !== undefined) {
      if (error instanceof StatusError && error.isLogged) logger.warn('request failed', { method: request.method, path, err: error })
      return known
    }
    if (request.signal.aborted) throw error
    logger.error('request failed', { method: request.method, path, err: error })
    return unexpectedError(path)
  }
}

/** The response to an error that a handler throws on purpose, in the format of its family of paths. */
function knownError(error: Error, path: string): Response | undefined {
  if (!isClientToolsPath(path)) return gooseError(error)
  const result = path === executePath ? codedError(error) : plainError(error)
  return result && json(result.status, result.body, result.headers)
}

/**
 * The response to any other error. The error's text goes to the log only. A crash in one request does not end other requests
 * (GA 19).
 */
function unexpectedError(path: string): Response {
  const message = 'Internal server error'
  if (!isClientToolsPath(path)) return empty(500)
  return json(500, path === executePath ? internalError(500, message).body : { name: 'UnknownError', data: { message } })
}
