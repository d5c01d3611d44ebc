import { randomUUID } from 'node:crypto'
import { JsonDocument } from '../wire/json/document.ts'
import { isObject } from '../wire/json/is-object.ts'
import type { JsonObject } from '../wire/json/shape.ts'
import type { ContentOf } from '../domain/message/content.ts'

/** A tool call as a model has made it; its parts can be anything. */
export interface RawCall {
  id: unknown
  name: unknown
  /** An object, or the JSON text of one. */
  input: unknown
}

/** The tool request for a model's call. A malformed call becomes an error that says what is wrong (M32). */
export function toolRequest({ id: given, name, input }: RawCall): ContentOf<'toolRequest'> {
  const id = typeof given === 'string' && given !== '' ? given : `call_${randomUUID()}`
  const failed = (error: string): ContentOf<'toolRequest'> => ({ type: 'toolRequest', id, toolCall: { status: 'error', error } })
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]+$/.test(name)) {
    return failed(`-32600: Invalid tool name: ${typeof name === 'string' ? name : ''}`)
  }
  const args = argumentsOf(input)
  if (args === undefined) return failed(`-32602: Invalid arguments of tool call ${id}`)
  return { type: 'toolRequest', id, toolCall: { status: 'success', value: { name, arguments: args } } }
}

function argumentsOf(input: unknown): JsonObject | undefined {
  if (input === undefined || input === null || input === '') return {}
  const value = typeof input === 'string' ? parsed(input) : input
  return isObject(value) ? value : undefined
}

function parsed(text: string): unknown {
  try {
    return new JsonDocument(text).value
  } catch {
    return undefined // not JSON, so not an object
  }
}
