import { JSONRPCMessageSchema, JSONRPCNotificationSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { parseJsonDocument } from '../../wire/json/document.ts'
import { isObject } from '../../wire/json/is-object.ts'

/** How deeply the arrays and objects of a message may be nested (X12). */
const maxLevels = 1000

/** The JSON of one or several messages. Throws a JsonSyntaxError. */
export function rpcValue(bytes: Uint8Array): unknown {
  return parseJsonDocument(bytes, { maxLevels }).value
}

/**
 * A value as a JSON-RPC message, which may be more than MCP allows (X12). Parameters that are a list or null count as missing,
 * and so do invalid parameters of a notification. A result that is not an object becomes one that no MCP request accepts. Throws
 * if the value is not a message.
 */
export function rpcMessage(value: unknown): JSONRPCMessage {
  const message = isObject(value) ? asInMcp(value) : value
  JSONRPCMessageSchema.parse(message)
  return message as JSONRPCMessage // the original: the schema returns a copy with reordered keys
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

/** The id of our request that a message cancels; undefined for any other message. */
export function cancelledId(message: JSONRPCMessage): number | undefined {
  const isCancellation = 'method' in message && message.method === 'notifications/cancelled'
  const id = isCancellation ? message.params?.requestId : undefined
  return typeof id === 'number' ? id : undefined
}

/** Whether a message responds to an unknown request. This side's ids are numbers, and JSON-RPC returns them unchanged. */
export function isUnexpectedAnswer(message: JSONRPCMessage): boolean {
  return !('method' in message) && typeof message.id !== 'number'
}
