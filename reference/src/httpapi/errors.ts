import type { ValidationIssue } from '#contract'

/** The body is larger than the server accepts (S6). */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'
}

/** The body comes too slowly (S41). */
export class BodyTooSlowError extends Error {
  override readonly name = 'BodyTooSlowError'
}

/** There is no room for the body beside those of other requests (S40). */
export class BusyError extends Error {
  override readonly name = 'BusyError'
}

/** The headers of the response to one of these: the rest of the request is not read. */
export const tooSlowHeaders = { Connection: 'close' }
export const busyHeaders = { 'Retry-After': '1', Connection: 'close' }

/** The body is not the JSON that the operation needs; the cause says why, for us only (CT 3.4 step 4, 4.4). */
export class MalformedBodyError extends Error {
  override readonly name = 'MalformedBodyError'
}

/** What was sent is JSON, or a query, of the wrong shape (CT 3.5). Carries at least one issue. */
export class ValidationError extends Error {
  override readonly name = 'ValidationError'
  /** What was sent, as it was understood. */
  readonly data: unknown
  readonly issues: readonly [ValidationIssue, ...ValidationIssue[]]

  constructor(data: unknown, issues: readonly [ValidationIssue, ...ValidationIssue[]]) {
    super(issues[0].message)
    this.data = data
    this.issues = issues
  }
}
