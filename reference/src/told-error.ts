/** An error whose message is for clients. What other errors say is for the log (G26). */
export class ToldError extends Error {
  override readonly name = 'ToldError'
}

/** What clients are told of an error. */
export function told(error: unknown): string {
  return error instanceof ToldError ? error.message : 'Internal error'
}
