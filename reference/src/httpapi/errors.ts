import type { ValidationIssue } from '#contract'

/** The body is larger than the server accepts (S6). */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'
}

/** The body arrives too slowly (S41). */
export class BodyTooSlowError extends Error {
  override readonly name = 'BodyTooSlowError'
}

/** The bodies of other requests leave no room for this one (S40). */
export class BusyError extends Error {
  override readonly name = 'BusyError'
}

/** The headers of the responses to these errors: the rest of the request is not read. */
export const tooSlowHeaders = { Connection: 'close' }
export const busyHeaders = { 'Retry-After': '1', Connection: 'close' }

/** The body is not the JSON that the operation requires. The cause is for the log only (CT 3.4 step 4, 4.4). */
export class MalformedBodyError extends Error {
  override readonly name = 'MalformedBodyError'
}

/** The request contains valid JSON, or a query, of the wrong shape (CT 3.5). There is at least one issue. */
export class ValidationError extends Error {
  override readonly name = 'ValidationError'
  /** The request data as the server understood it. */
  readonly data: unknown
  readonly issues: readonly [ValidationIssue, ...ValidationIssue[]]

  constructor(data: unknown, issues: readonly [ValidationIssue, ...ValidationIssue[]]) {
    super(issues[0].message)
    this.data = data
    this.issues = issues
  }
}
