import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js'
import { isObject } from '../json/is-object.ts'

/**
 * A value as a message of JSON-RPC. That may have a list of parameters, which MCP has not: whoever is asked with one, or with
 * null, sees none. It may also have any result, and who waits for one that is no object gets what no answer of MCP is like.
 * Throws when it is no message.
 */
export function rpcMessage(value: unknown): JSONRPCMessage {
  const message = isObject(value) ? asInMcp(value) : value
  JSONRPCMessageSchema.parse(message)
  return message as JSONRPCMessage // as it came: what the schema returns is a copy, whose keys are in another order
}

function asInMcp(message: Record<string, unknown>): Record<string, unknown> {
  const { params, result } = message
  if (Array.isArray(params) || params === null) return Object.fromEntries(Object.entries(message).filter(([key]) => key !== 'params'))
  return 'result' in message && !isObject(result) ? { ...message, result: { content: false } } : message
}

/** The request of ours that a message cancels; undefined for any other message. */
export function cancelledId(message: JSONRPCMessage): number | undefined {
  const isCancellation = 'method' in message && message.method === 'notifications/cancelled'
  const id = isCancellation ? message.params?.requestId : undefined
  return typeof id === 'number' ? id : undefined
}

/** Whether a message answers a request that this side has not made: our ids are numbers, and JSON-RPC gives them back as they are. */
export function isAnswerToNobody(message: JSONRPCMessage): boolean {
  return !('method' in message) && typeof message.id !== 'number'
}
