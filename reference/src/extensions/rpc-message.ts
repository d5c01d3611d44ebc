import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { JSONRPCMessageSchema, JSONRPCNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { parseJsonDocument } from '../json/document.ts'
import { isObject } from '../json/is-object.ts'

/** How deep arrays and objects of a message may lie in one another (X12). */
const maxLevels = 1000

/** The JSON of a message, or of several. Throws a JsonSyntaxError. */
export function rpcValue(bytes: Uint8Array): unknown {
  return parseJsonDocument(bytes, { maxLevels }).value
}

/**
 * A value as a message of JSON-RPC. That may have a list of parameters, which MCP has not: whoever is asked with one, or with
 * null, sees none; nor does whoever gets a notification with odd ones, which ends no connection (X12). It may also have any result, and who waits for one that is no object gets what no answer of MCP is like.
 * Throws when it is no message.
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

/** Whether a message answers a request that this side has not made: our ids are numbers, and JSON-RPC gives them back as they are. */
export function isAnswerToNobody(message: JSONRPCMessage): boolean {
  return !('method' in message) && typeof message.id !== 'number'
}
