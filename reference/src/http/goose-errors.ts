import { BodyTooSlowError, BusyError, busyHeaders, tooSlowHeaders } from './errors.ts'
import { cut } from '../text/cut.ts'
import { json, empty, text } from './respond.ts'

/*
 * The families of error bodies of the goose server (GA 2.7). Which one an operation answers with is part of its contract.
 */

/** Family A: a message in JSON. */
export class MessageError extends Error {
  override readonly name = 'MessageError'
  readonly status: number

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** Family B: a status without a body. The message is for the log. */
export class BareStatusError extends Error {
  override readonly name = 'BareStatusError'
  readonly status: number

  constructor(status: number, message = `status ${status}`, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** Family C: plain text, as everything has it that is wrong with a body or a query (GA 2.5, 2.6). */
export class TextError extends Error {
  override readonly name = 'TextError'
  readonly status: number

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** Bytes of the longest message (S43). */
const maxMessage = 16 * 1024

/** The answer to one of these errors; undefined for any other. */
export function gooseError(error: Error): Response | undefined {
  if (error instanceof MessageError) return json(error.status, { message: cut(error.message, maxMessage) })
  if (error instanceof BareStatusError) return empty(error.status)
  if (error instanceof TextError) return text(error.status, cut(error.message, maxMessage))
  if (error instanceof BodyTooSlowError) return empty(408, tooSlowHeaders)
  if (error instanceof BusyError) return empty(503, busyHeaders)
  return undefined
}
