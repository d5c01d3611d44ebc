import { randomUUID } from 'node:crypto'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { JsonDocument } from '../../wire/json/document.ts'
import { isObject } from '../../wire/json/is-object.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { rpcMessage, rpcValue } from './rpc-message.ts'

/**
 * Takes messages through code that knows no JSON but JSON.parse and JSON.stringify, which lose how numbers were written
 * and in what order keys came (G2). On the way out a stand-in is passed on, and its text is replaced by that of the message. On
 * the way in what is free in a message becomes its text, under a random key.
 */
export class ExactMessages {
  readonly #mark = randomUUID()
  /** What is sent in the place of stand-ins, by their texts. */
  readonly #texts = new Map<string, string>()

  /** Calls `send` with a stand-in for the message and its text, which `textOf` knows until `send` returns. */
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

  /** The text of the message that this is the text of a stand-in of. */
  textOf(text: string): string {
    return this.#texts.get(text) ?? text
  }

  /** The text of a message, or of several, marked. Throws when it is no JSON, or no JSON-RPC. */
  marked(bytes: Uint8Array): string {
    const value = rpcValue(bytes)
    const mark = (one: unknown): JSONRPCMessage => replaced(rpcMessage(one), (part) => ({ [this.#mark]: stringifyJson(part) }))
    return JSON.stringify(Array.isArray(value) ? value.map(mark) : mark(value))
  }

  /** The message that was marked. */
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

/** A message with something else for what is free in it: its parameters, its result, or the data of its error. */
function replaced(message: JSONRPCMessage, change: (part: unknown) => unknown): JSONRPCMessage {
  if ('method' in message) return message.params === undefined ? message : { ...message, params: change(message.params) as JsonObject }
  if ('result' in message) return { ...message, result: change(message.result) as JsonObject }
  const { error } = message
  return error.data === undefined ? message : { ...message, error: { ...error, data: change(error.data) } }
}
