import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js'
import { isObject } from '../json/is-object.ts'

/**
 * A value as a message of JSON-RPC. That may have a list of parameters, which MCP has not: whoever is asked with one, or with
 * null, sees none. Throws when it is no message.
 */
export function rpcMessage(value: unknown): JSONRPCMessage {
  if (!isObject(value) || !(Array.isArray(value.params) || value.params === null)) return JSONRPCMessageSchema.parse(value)
  return JSONRPCMessageSchema.parse(Object.fromEntries(Object.entries(value).filter(([key]) => key !== 'params')))
}

/** Whether a message answers a request that this side has not made: our ids are numbers, and JSON-RPC gives them back as they are. */
export function isAnswerToNobody(message: JSONRPCMessage): boolean {
  return !('method' in message) && typeof message.id !== 'number'
}
