import { BodyTooLargeError, MalformedBodyError, ValidationError } from '../http/errors.ts'
import { json } from '../http/respond.ts'
import type * as contract from '#contract'

/** The envelopes of all routes but `/client-tools/execute` (CT 2.5). Undefined for an error that nobody foresaw. */
export function plainError(error: Error): Response | undefined {
  if (error instanceof ValidationError) {
    return json(400, {
      data: error.data,
      error: [...error.issues],
      success: false,
    } satisfies contract.ValidationError)
  }
  if (error instanceof BodyTooLargeError) {
    return json(413, { error: bodyTooLarge } satisfies contract.BodyTooLargeError)
  }
  if (error instanceof MalformedBodyError) {
    // A 500 because the original server answers so, but without its stack trace (CT 12, D3).
    return json(500, {
      name: 'UnknownError',
      data: { message: 'Error: Malformed JSON in request body' },
    } satisfies contract.MalformedBodyError)
  }
  return undefined
}

/** The envelope of `/client-tools/execute` (CT 2.5, 4.4, S3, S6). */
export function codedError(error: Error): Response | undefined {
  if (error instanceof ValidationError) return invalidRequest(400, error.message)
  if (error instanceof BodyTooLargeError) return invalidRequest(413, bodyTooLarge)
  if (error instanceof MalformedBodyError) return invalidRequest(400, 'Invalid JSON body')
  return undefined
}

const bodyTooLarge = 'Request body too large'

export function invalidRequest(status: 400 | 413, message: string): Response {
  return json(status, {
    error: { code: 'INVALID_REQUEST', message },
  } satisfies contract.InvalidRequestError)
}

export function toolNotFound(): Response {
  return json(404, {
    error: { code: 'NOT_FOUND', message: 'Tool not found' },
  } satisfies contract.ToolNotFoundError)
}

export function executionFailed(message: string): Response {
  return json(500, {
    error: { code: 'INTERNAL_ERROR', message },
  } satisfies contract.ExecutionFailedError)
}

export function executionTimedOut(message: string): Response {
  return json(504, {
    error: { code: 'TIMEOUT', message },
  } satisfies contract.ExecutionTimeoutError)
}

export function unknownRequest(): Response {
  return json(404, { error: 'Unknown request ID' } satisfies contract.UnknownRequestError)
}
