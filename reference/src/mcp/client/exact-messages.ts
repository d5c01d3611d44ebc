import { randomUUID } from 'node:crypto'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { JsonDocument } from '../../wire/json/document.ts'
import { isObject } from '../../wire/json/is-object.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { rpcMessage, rpcValue } from './rpc-message.ts'

/**
 * Passes messages through code that uses JSON.parse and JSON.stringify, which change the digits of numbers and the order of keys
 * (G2). For an outgoing message, that code gets a stand-in, whose text is later replaced by the real one. For an incoming
 * message, the free parts become their JSON text, under a random key.
 */
export class ExactMessages {
  readonly #mark = randomUUID()
  /** The texts to send instead of stand-ins, by the texts of the stand-ins. */
  readonly #texts = new Map<string, string>()

  /** Calls `send` with a stand-in for the message, and the stand-in's text. `textOf` knows that text until `send` returns. */
  async send(message: JSONRPCMessage, send: (standIn: JSONRPCMessage, text: string) => Promise<void>): Promise<void> {
    const standIn = this.#standIn(message)
    const text = JSON.stringify(standIn)
    this.#texts.set(text, stringifyJson(message))
    try {
      await send(standIn, text)
    } finally {
      this.#texts.delete(text)
    }
  }

  /** The real text for the text of a stand-in. Any other text is returned unchanged. */
  textOf(text: string): string {
    return this.#texts.get(text) ?? text
  }

  /** The text of one or several messages, with the free parts marked. Throws if it is not JSON, or not JSON-RPC. */
  marked(bytes: Uint8Array): string {
    const value = rpcValue(bytes)
    const mark = (one: unknown): JSONRPCMessage => replaced(rpcMessage(one), (part) => ({ [this.#mark]: stringifyJson(part) }))
    return JSON.stringify(Array.isArray(value) ? value.map(mark) : mark(value))
  }

  /** The original of a marked message. */
  unmarked(message: JSONRPCMessage): JSONRPCMessage {
    return replaced(message, (part) => {
      const text = isObject(part) ? part[this.#mark] : undefined
      return typeof text === 'string' ? new JsonDocument(text).value : part
    })
  }

  #standIn(message: JSONRPCMessage): JSONRPCMessage {
    return replaced(message, () => ({ [this.#mark]: randomUUID() }))
  }
}

/** A message with its free part replaced: its parameters, its result, or the data of its error. */
function replaced(message: JSONRPCMessage, change: (part: unknown) => unknown): JSONRPCMessage {
  if ('method' in message) return message.params === undefined ? message : { ...message, params: change(message.params) as JsonObject }
  if ('result' in message) return { ...message, result: change(message.result) as JsonObject }
  const { error } = message
  return error.data === undefined ? message : { ...message, error: { ...error, data: change(error.data) } }
}
