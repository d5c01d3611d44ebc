/** An error whose message is for clients. The messages of other errors go to the log only (G26). */
export class PublicError extends Error {
  override readonly name = 'PublicError'
}

/** The text of an error for clients. It is `Internal error` for every error except a PublicError. */
export function clientMessage(error: unknown): string {
  return error instanceof PublicError ? error.message : 'Internal error'
}
