import {
  BodyTooLargeError, BodyTooSlowError, BusyError, MalformedBodyError, ValidationError, busyHeaders, tooSlowHeaders,
} from '../http/errors.ts'
import { json } from '../http/respond.ts'
import { stringifyUpTo } from '../json/stringify.ts'
import type * as contract from '#contract'
import { RateLimitedError } from './registry.ts'

/** The envelopes of all routes but `/client-tools/execute` (CT 2.5). Undefined for an error that nobody foresaw. */
export function plainError(error: Error): Response | undefined {
  if (error instanceof ValidationError) return validationFailed(error)
  if (error instanceof BodyTooLargeError) {
    return json(413, { error: bodyTooLarge } satisfies contract.BodyTooLargeError)
  }
  if (error instanceof BodyTooSlowError) return json(408, { error: bodyTooSlow } satisfies contract.BodyTooSlowError, tooSlowHeaders)
  if (error instanceof BusyError) return json(503, { error: busy } satisfies contract.TooManyRequestsError, busyHeaders)
  if (error instanceof RateLimitedError) return rateLimited(error.message)
  if (error instanceof MalformedBodyError) {
    // A 500 because the original server answers so, but without its stack trace (CT 12, D3).
    return json(500, {
      name: 'UnknownError',
      data: { message: 'Error: Malformed JSON in request body' },
    } satisfies contract.MalformedBodyError)
  }
  return undefined
}

/** `data` is left out when it is large (S43). */
function validationFailed({ data, issues }: ValidationError): Response {
  const small = stringifyUpTo(data, maxData)
  const answer = { ...(small !== undefined && { data }), error: [...issues], success: false } satisfies contract.ValidationError
  return json(400, answer)
}

/** Bytes of the largest copy of a faulty body. */
const maxData = 64 * 1024

/** The envelope of `/client-tools/execute` (CT 2.5, 4.4, S3, S6). */
export function codedError(error: Error): Response | undefined {
  if (error instanceof ValidationError) return invalidRequest(400, error.message)
  if (error instanceof BodyTooLargeError) return invalidRequest(413, bodyTooLarge)
  if (error instanceof MalformedBodyError) return invalidRequest(400, 'Invalid JSON body')
  if (error instanceof BodyTooSlowError) return invalidRequest(408, bodyTooSlow, tooSlowHeaders)
  if (error instanceof BusyError) return internalError(503, busy, busyHeaders)
  return undefined
}

const bodyTooLarge = 'Request body too large'
const bodyTooSlow = 'Request body too slow'
const busy = 'Too many requests in progress'

export function invalidRequest(status: 400 | 408 | 413, message: string, headers?: Record<string, string>): Response {
  return json(status, { error: { code: 'INVALID_REQUEST', message } } satisfies contract.InvalidRequestError, headers)
}

function rateLimited(message: contract.TooManyTools['message']): Response {
  return json(429, { error: { code: 'RATE_LIMITED', message } } satisfies contract.TooManyToolsError)
}

export function toolNotFound(): Response {
  return json(404, {
    error: { code: 'NOT_FOUND', message: 'Tool not found' },
  } satisfies contract.ToolNotFoundError)
}

export function executionFailed(message: string): Response {
  return internalError(500, message)
}

function internalError(status: 500 | 503, message: string, headers?: Record<string, string>): Response {
  return json(status, { error: { code: 'INTERNAL_ERROR', message } } satisfies contract.ExecutionFailedError, headers)
}

export function executionTimedOut(message: string): Response {
  return json(504, {
    error: { code: 'TIMEOUT', message },
  } satisfies contract.ExecutionTimeoutError)
}

export function unknownRequest(): Response {
  return json(404, { error: 'Unknown request ID' } satisfies contract.UnknownRequestError)
}
