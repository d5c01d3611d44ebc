import { ErrorCode } from '@modelcontextprotocol/sdk/types.js'

/** An error of the protocol (X15). The SDK sends its code and message. The SDK's own class would repeat the code in the message. */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly code: number

  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The error for a call that makes no sense. */
export function invalidCall(message: string, cause?: unknown): CallError {
  return new CallError(ErrorCode.InvalidParams, message, { cause })
}

/** The error for a valid call that cannot be carried out. */
export function failedCall(message: string, cause?: unknown): CallError {
  return new CallError(ErrorCode.InternalError, message, { cause })
}
