import type { ErrorResponse } from '#contract'
import { BodyTooSlowError, BusyError, busyHeaders, tooSlowHeaders } from './errors.ts'
import { truncate } from '../text/truncate.ts'
import { json, empty, text } from './response.ts'

/*
 * The families of error bodies of the goose server (GA 2.7). Which one an operation answers with is part of its contract.
 */

/** An error with the status of its response. */
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

/** Family B: a status without a body. The message is for the log. */
export class BareStatusError extends StatusError {
  override readonly name = 'BareStatusError'
}

/** Family C: plain text, the format of everything that is wrong with a body or a query (GA 2.5, 2.6). */
export class TextError extends StatusError {
  override readonly name = 'TextError'
}

/** Bytes of the longest message (S43). */
const maxMessage = 16 * 1024

/** The answer to one of these errors; undefined for any other. */
export function gooseError(error: Error): Response | undefined {
  if (error instanceof MessageError) return json(error.status, { message: truncate(error.message, maxMessage) } satisfies ErrorResponse)
  if (error instanceof BareStatusError) return empty(error.status)
  if (error instanceof TextError) return text(error.status, truncate(error.message, maxMessage))
  if (error instanceof BodyTooSlowError) return empty(408, tooSlowHeaders)
  if (error instanceof BusyError) return empty(503, busyHeaders)
  return undefined
}
