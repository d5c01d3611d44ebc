import type * as contract from '#contract'
import {
  BodyTooLargeError, BodyTooSlowError, BusyError, MalformedBodyError, ValidationError, busyHeaders, tooSlowHeaders,
} from '../../httpapi/errors.ts'
import { stringifyUpTo } from '../../wire/json/stringify.ts'
import { RateLimitedError } from './registry.ts'

/** An error response. */
interface ErrorResult<Status extends number, Body> {
  status: Status
  body: Body
  headers?: Record<string, string>
}

/** The error response of all routes except `/client-tools/execute` (CT 2.5). Undefined for an unexpected error. */
export function plainError(error: Error): ErrorResult<number, PlainError> | undefined {
  if (error instanceof ValidationError) return validationFailed(error)
  if (error instanceof BodyTooLargeError) return { status: 413, body: { error: bodyTooLarge } }
  if (error instanceof BodyTooSlowError) return { status: 408, body: { error: bodyTooSlow }, headers: tooSlowHeaders }
  if (error instanceof BusyError) return { status: 503, body: { error: busy }, headers: busyHeaders }
  if (error instanceof RateLimitedError) return { status: 429, body: { error: { code: 'RATE_LIMITED', message: error.message } } }
  // A 500, as in the original server, but without its stack trace (CT 12, D3).
  if (error instanceof MalformedBodyError) {
    return { status: 500, body: { name: 'UnknownError', data: { message: 'Error: Malformed JSON in request body' } } }
  }
  return undefined
}

type PlainError = contract.RegisterClientToolsError

/** `data` is omitted if it is large (S43). */
function validationFailed({ data, issues }: ValidationError): ErrorResult<400, contract.ValidationError> {
  const small = stringifyUpTo(data, maxData)
  return { status: 400, body: { ...(small !== undefined && { data }), error: [...issues], success: false } }
}

/** The most bytes of the invalid body that a response repeats. */
const maxData = 64 * 1024

/** The error response of `/client-tools/execute` (CT 2.5, 4.4, S3, S6). */
export function codedError(error: Error): ErrorResult<number, contract.ExecuteClientToolError> | undefined {
  if (error instanceof ValidationError) return invalidRequest(400, error.message)
  if (error instanceof BodyTooLargeError) return invalidRequest(413, bodyTooLarge)
  if (error instanceof MalformedBodyError) return invalidRequest(400, 'Invalid JSON body')
  if (error instanceof BodyTooSlowError) return invalidRequest(408, bodyTooSlow, tooSlowHeaders)
  if (error instanceof BusyError) return { ...internalError(503, busy), headers: busyHeaders }
  return undefined
}

const bodyTooLarge = 'Request body too large'
const bodyTooSlow = 'Request body too slow'
const busy = 'Too many requests in progress'

export function invalidRequest<Status extends 400 | 408 | 413>(
  status: Status,
  message: string,
  headers: Record<string, string> = {},
): ErrorResult<Status, contract.InvalidRequestError> {
  return { status, body: { error: { code: 'INVALID_REQUEST', message } }, headers }
}

export function internalError<Status extends 500 | 503>(status: Status, message: string): ErrorResult<Status, contract.ExecutionFailedError> {
  return { status, body: { error: { code: 'INTERNAL_ERROR', message } } }
}
