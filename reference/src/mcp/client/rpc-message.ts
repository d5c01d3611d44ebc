import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { JSONRPCMessageSchema, JSONRPCNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { parseJsonDocument } from '../../wire/json/document.ts'
import { isObject } from '../../wire/json/is-object.ts'

/** How deep arrays and objects of a message may lie in one another (X12). */
const maxLevels = 1000

/** The JSON of a message, or of several. Throws a JsonSyntaxError. */
export function rpcValue(bytes: Uint8Array): unknown {
  return parseJsonDocument(bytes, { maxLevels }).value
}

/**
 * A value as a message of JSON-RPC, which allows more than MCP (X12). Parameters that are a list or null count as missing, and so
 * do invalid ones of a notification. A result that is not an object becomes one that no request of MCP accepts. Throws when the
 * value is not a message.
 */
export function rpcMessage(value: unknown): JSONRPCMessage {
  const message = isObject(value) ? asInMcp(value) : value
  JSONRPCMessageSchema.parse(message)
  return message as JSONRPCMessage // as it came: what the schema returns is a copy, whose keys are in another order
}

function asInMcp(message: Record<string, unknown>): Record<string, unknown> {
  const { jsonrpc, method, params, result } = message
  if (typeof method === 'string' && !Object.hasOwn(message, 'id')) {
    const notification = { jsonrpc, method, params }
    return JSONRPCNotificationSchema.safeParse(notification).success && params !== undefined ? notification : { jsonrpc, method }
  }
  if (Array.isArray(params) || params === null) return Object.fromEntries(Object.entries(message).filter(([key]) => key !== 'params'))
  return 'result' in message && !isObject(result) ? { ...message, result: { content: false } } : message
}

/** The request of ours that a message cancels; undefined for any other message. */
export function cancelledId(message: JSONRPCMessage): number | undefined {
  const isCancellation = 'method' in message && message.method === 'notifications/cancelled'
  const id = isCancellation ? message.params?.requestId : undefined
  return typeof id === 'number' ? id : undefined
}

/** Whether a message answers an unknown request: the ids of this side are numbers, and JSON-RPC returns them unchanged. */
export function isUnexpectedAnswer(message: JSONRPCMessage): boolean {
  return !('method' in message) && typeof message.id !== 'number'
}
