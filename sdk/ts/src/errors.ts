/** An error of this library, or one that the server reported. */
export class ClientToolsError extends Error {
  override readonly name = 'ClientToolsError'
  /** The HTTP status, if the server answered with another one than 200. */
  readonly status: number | undefined

  constructor(message: string, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(message, cause === undefined ? {} : { cause })
    this.status = status
  }
}

/** The message of an Error, else the value as a text (CT 11.4 step 4). */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
