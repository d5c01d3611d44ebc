import { ErrorCode } from '@modelcontextprotocol/sdk/types.js'

/** An error of the protocol (X15). The SDK sends its code and message; its own class would put the code into the message, too. */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly code: number

  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The call cannot mean anything. */
export function invalidCall(message: string, cause?: unknown): CallError {
  return new CallError(ErrorCode.InvalidParams, message, { cause })
}

/** The call means something that cannot be done. */
export function failedCall(message: string, cause?: unknown): CallError {
  return new CallError(ErrorCode.InternalError, message, { cause })
}
