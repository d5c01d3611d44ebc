import type { ErrorResponse } from '#contract'
import { BodyTooSlowError, BusyError, busyHeaders, tooSlowHeaders } from './errors.ts'
import { truncate } from '../text/truncate.ts'
import { json, empty, text } from './response.ts'

/*
 * The error responses of the goose server, in the families of GA 2.7. Handlers throw them.
 */

interface ErrorDetails extends ErrorOptions {
  /** Whether the cause is logged, because the response does not show it (G26). */
  isLogged?: boolean
}

/** The families of GA 2.7: a message in JSON, no body, and plain text. */
type Kind = 'message' | 'bare' | 'text'

/** An error that determines the response. */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly kind: Kind
  readonly status: number
  readonly isLogged: boolean

  constructor(kind: Kind, status: number, message = `status ${status}`, { isLogged = false, ...options }: ErrorDetails = {}) {
    super(message, options)
    this.kind = kind
    this.status = status
    this.isLogged = isLogged
  }
}

/**
 * Makes the error responses of one operation, whose generated `…Errors` type is `Errors`. A status that the contract does not
 * have, or that it has with a different body, does not compile.
 */
export interface ErrorsOf<Errors> {
  /** Family A: a message in JSON. */
  message: (status: MessageStatus<Errors>, message: string, details?: ErrorDetails) => Error
  /** Family B: no body. The message never reaches the client. */
  bare: (status: BareStatus<Errors>, message?: string, details?: ErrorDetails) => Error
  /** Family C: plain text, the format of all errors of bodies and queries (GA 2.5, 2.6). */
  text: <Status extends TextStatus<Errors>>(status: Status, text: Errors[Status] & string, details?: ErrorDetails) => Error
}

type MessageStatus<Errors> = StatusOf<Errors, 'message'>
/** A text may be missing where openapi.yaml says `x-empty`, which the generated types do not show. */
type BareStatus<Errors> = StatusOf<Errors, 'none' | 'text'>
type TextStatus<Errors> = StatusOf<Errors, 'text'>

/** The statuses whose body is of one of these kinds. */
type StatusOf<Errors, Kind> = keyof Errors &
  number &
  { [Status in keyof Errors]: KindOf<Errors[Status]> extends Kind ? Status : never }[keyof Errors]

/** In the generated types, `unknown` means that there is no body. */
type KindOf<Body> = unknown extends Body ? 'none' : Body extends string ? 'text' : ErrorResponse extends Body ? 'message' : 'other'

/** Makes any error response. As an ErrorsOf<…>, it makes only those in the contract. */
export const anyError = {
  message: (status: number, message: string, details?: ErrorDetails): Error => new StatusError('message', status, message, details),
  bare: (status: number, message?: string, details?: ErrorDetails): Error => new StatusError('bare', status, message, details),
  text: (status: number, message: string, details?: ErrorDetails): Error => new StatusError('text', status, message, details),
}

/** The most bytes of a message (S43). */
const maxMessage = 16 * 1024

/** The response to one of these errors; undefined for any other error. */
export function gooseError(error: Error): Response | undefined {
  if (error instanceof StatusError) return statusResponse(error)
  if (error instanceof BodyTooSlowError) return empty(408, tooSlowHeaders)
  if (error instanceof BusyError) return empty(503, busyHeaders)
  return undefined
}

function statusResponse({ kind, status, message }: StatusError): Response {
  if (kind === 'bare') return empty(status)
  const shown = truncate(message, maxMessage)
  return kind === 'text' ? text(status, shown) : json(status, { message: shown } satisfies ErrorResponse)
}
