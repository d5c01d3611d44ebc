import { randomUUID } from 'node:crypto'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { parseJsonDocument } from '../json/document.ts'
import { isObject } from '../json/is-object.ts'
import { JsonNumber } from '../json/number.ts'
import { markedJson, stringifyJson } from '../json/stringify.ts'
import { rpcMessage } from './rpc-message.ts'

/**
 * Takes messages through code that knows no JSON but JSON.parse and JSON.stringify, which lose how numbers were written
 * (G2). On the way out a stand-in is passed on, and its text is replaced by that of the message. On the way in a number
 * that would change becomes an object with one key that nobody else knows.
 */
export class ExactMessages {
  readonly #mark = randomUUID()
  /** What is sent in the place of stand-ins, by their texts. */
  readonly #texts = new Map<string, string>()

  /** Calls `send` with a stand-in for the message, and the text of that. Meanwhile `textOf` knows it. */
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
    const { value } = parseJsonDocument(bytes)
    return markedJson(Array.isArray(value) ? value.map(rpcMessage) : rpcMessage(value), this.#mark)
  }

  /** Puts the numbers of a marked message into their places, and returns it. */
  unmarked(message: JSONRPCMessage): JSONRPCMessage {
    const open: object[] = [message]
    for (let container = open.pop(); container !== undefined; container = open.pop()) {
      for (const [key, value] of Object.entries(container)) {
        if (typeof value !== 'object' || value === null) continue
        const digits = isObject(value) && Object.hasOwn(value, this.#mark) ? value[this.#mark] : undefined
        if (typeof digits === 'string') Object.defineProperty(container, key, { value: new JsonNumber(digits) })
        else open.push(value as object) // just seen
      }
    }
    return message
  }

  #standIn(message: JSONRPCMessage): JSONRPCMessage {
    const standIn = { [this.#mark]: randomUUID() }
    if ('method' in message) return message.params === undefined ? message : { ...message, params: standIn }
    return 'result' in message ? { ...message, result: standIn } : message
  }
}
