import { ErrorCode } from '@modelcontextprotocol/sdk/types.js'
import { RpcError } from '../client/rpc-error.ts'

/** The error for a call that makes no sense (X15). */
export function invalidCall(message: string, cause?: unknown): RpcError {
  return new RpcError(ErrorCode.InvalidParams, message, { cause })
}

/** The error for a valid call that cannot be carried out (X15). */
export function failedCall(message: string, cause?: unknown): RpcError {
  return new RpcError(ErrorCode.InternalError, message, { cause })
}
