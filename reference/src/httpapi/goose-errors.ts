import type { ErrorResponse } from '#contract'
import { BodyTooSlowError, BusyError, busyHeaders, tooSlowHeaders } from './errors.ts'
import { truncate } from '../text/truncate.ts'
import { json, empty, text } from './response.ts'

/*
 * The families of error bodies of the goose server (GA 2.7). The contract says which one an operation uses.
 */

/** An error that determines the status of the response. */
abstract class StatusError extends Error {
  readonly status: number

  constructor(status: number, message = `status ${status}`, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** Family A: a message in JSON. */
export class MessageError extends StatusError {
  override readonly name = 'MessageError'
}

/** Family B: a status without a body. The message never reaches the client. */
export class BareStatusError extends StatusError {
  override readonly name = 'BareStatusError'
}

/** Family C: plain text, the format of all errors of bodies and queries (GA 2.5, 2.6). */
export class TextError extends StatusError {
  override readonly name = 'TextError'
}

/** The most bytes of a message (S43). */
const maxMessage = 16 * 1024

/** The response to one of these errors; undefined for any other error. */
export function gooseError(error: Error): Response | undefined {
  if (error instanceof MessageError) return json(error.status, { message: truncate(error.message, maxMessage) } satisfies ErrorResponse)
  if (error instanceof BareStatusError) return empty(error.status)
  if (error instanceof TextError) return text(error.status, truncate(error.message, maxMessage))
  if (error instanceof BodyTooSlowError) return empty(408, tooSlowHeaders)
  if (error instanceof BusyError) return empty(503, busyHeaders)
  return undefined
}
