/** An error whose message is for clients. The messages of other errors go into the log alone (G26). */
export class PublicError extends Error {
  override readonly name = 'PublicError'
}

/** The message of an error for clients: `Internal error` for any but a PublicError. */
export function clientMessage(error: unknown): string {
  return error instanceof PublicError ? error.message : 'Internal error'
}
