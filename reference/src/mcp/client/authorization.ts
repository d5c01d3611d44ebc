import { ExtensionError } from './connection.ts'

/** The token of a connection whose server demands one (X57, X58). */
export interface Authorization {
  /** The access token to send. */
  readonly token: string
  /** Whether the token should be renewed before it is sent. */
  readonly isDue: boolean
  /**
   * Renews the token if this one is still the current one. `isRejected` means that the server has rejected it. Returns whether that
   * worked. Never rejects.
   */
  renew: (token: string, isRejected: boolean) => Promise<boolean>
}

/** The server has answered `initialize` with 401. */
export class UnauthorizedError extends ExtensionError {
  /** Whether the answer asks for a sign-in, by its field `WWW-Authenticate` (X47). */
  readonly asksForSignIn: boolean

  constructor(origin: string, asksForSignIn: boolean) {
    super(`Cannot connect to ${origin}: 401 Unauthorized`)
    this.asksForSignIn = asksForSignIn
  }
}

/** The server has answered another request with 401, and the token could not be renewed. */
export class NotSignedInError extends Error {
  override readonly name = 'NotSignedInError'
  /** The status. */
  readonly code = 401

  constructor() {
    super('Not signed in')
  }
}

/**
 * Sends a request with the token of its connection. If it may be renewed, a due token is renewed before. After a 401 it is renewed, and
 * the request is sent once more, unless there was a renewal before. Returns the last answer.
 */
export async function sendAuthorized<T extends { response: Response }>(
  authorization: Authorization,
  mayRenew: boolean,
  send: (token: string) => Promise<T>,
): Promise<T> {
  const wasDue = mayRenew && authorization.isDue
  if (wasDue) await authorization.renew(authorization.token, false)
  const { token } = authorization
  const answer = await send(token)
  if (answer.response.status !== 401 || wasDue || !mayRenew || !(await authorization.renew(token, true))) return answer
  await answer.response.body?.cancel()
  return send(authorization.token)
}
