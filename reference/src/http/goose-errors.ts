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

/** The answer to one of these errors; undefined for any other. */
export function gooseError(error: Error): Response | undefined {
  if (error instanceof MessageError) return json(error.status, { message: error.message })
  if (error instanceof BareStatusError) return empty(error.status)
  if (error instanceof TextError) return text(error.status, error.message)
  return undefined
}
