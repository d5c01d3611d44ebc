import { isObject } from '../json/is-object.ts'
import type { JsonObject } from '../json/shape.ts'
import type { ModelConfig } from '../sessions/session.ts'
import type { ModelRequest, Piece, Usage } from './model.ts'

/** How models of one kind are asked, and answer. */
export interface Wire {
  /** The body of a request to the model of this name. */
  body: (request: ModelRequest, config: ModelConfig, model: string, stream: boolean) => Promise<JsonObject>
  /** Reads the answer to a request that did not ask for a stream. Throws when it cannot be read. */
  whole: (answer: unknown) => Piece
  /** Reads one stream. */
  stream: () => StreamReader
}

/** Makes pieces of the JSON lines of one stream (M35). */
export interface StreamReader {
  /** Throws a BadStreamError when the stream says that something went wrong. */
  read: (data: unknown) => Piece[]
  /** Called for a line `[DONE]`, where the wire has one. */
  done: () => Piece[]
  /** Called at the end of the connection: what still counts, although no more comes. */
  cut: () => Piece[]
  /** Nothing more will come that matters. */
  readonly over: boolean
  /** All that belongs to the answer has come. */
  readonly complete: boolean
}

/** Says that a stream cannot be read any further (M38). */
export class BadStreamError extends Error {
  override readonly name = 'BadStreamError'
}

/** A member of something that may be anything. */
export function member(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** The elements of something that may be no array. */
export function elements(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

/** A number of tokens; null for what is none. */
export function tokens(value: unknown): number | null {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null
}

/** The total defaults to the sum of the others (GA 7.12). */
export function usageOf(input: number | null, output: number | null, total: number | null): Usage {
  return { input, output, total: total ?? (input === null || output === null ? null : input + output) }
}
