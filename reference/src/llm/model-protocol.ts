import { isObject } from '../wire/json/is-object.ts'
import { JsonNumber } from '../wire/json/number.ts'
import type { JsonObject } from '../wire/json/shape.ts'
import type { ModelConfig } from '../domain/session/session.ts'
import type { AnswerFacts, Failure, ModelRequest, Piece, Usage, WholeAnswer } from './model.ts'

/** The wire protocol of one kind of models: its requests and answers. */
export interface ModelProtocol {
  /** The body of a request to this model. Rejects with the reason of the signal if it must ask for something first. */
  body: (request: ModelRequest, config: ModelConfig, model: string, stream: boolean, signal: AbortSignal) => Promise<JsonObject>
  /** The name of this model in the body. */
  modelName: (model: string) => string
  /** Reads the answer to a request without streaming. Throws if it cannot be read. */
  whole: (answer: unknown) => WholeAnswer
  /** A failure that the answer of this model contains, beyond its status; undefined if there is none. Not asked about streams. */
  failureIn?: (status: number, bytes: Uint8Array, model: string) => Failure | undefined
  /** Makes a reader for one stream. */
  stream: () => StreamReader
}

/** Turns the JSON lines of one stream into pieces (M35). Its facts are those that have arrived. */
export interface StreamReader extends Readonly<AnswerFacts> {
  /** Throws a BadStreamError if the stream reports an error. */
  read: (data: unknown) => Piece[]
  /** Called for a line `[DONE]`, if the protocol has one. */
  done: () => Piece[]
  /** Called when the connection ends. Returns the pieces that still count. */
  cut: () => Piece[]
  /** Whether the rest of the stream can be ignored. */
  readonly over: boolean
  /** Whether the complete answer has arrived. */
  readonly complete: boolean
}

/** A stream cannot be read any further (M38). */
export class BadStreamError extends Error {
  override readonly name = 'BadStreamError'
}

/** A stream ended before its answer did. */
export class CutStreamError extends BadStreamError {}

/** A member of a value of any type; undefined if there is none. */
export function member(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** The elements of a value of any type; empty if it is not an array. */
export function elements(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

/** The limits of an answer, from the model's config or from the MCP server that asks (X23). */
export function answerLimits({ sampling }: ModelRequest, config: ModelConfig): Pick<ModelConfig, 'temperature' | 'max_tokens'> {
  const { temperature, max_tokens: most } = config
  if (sampling === undefined) return { temperature, max_tokens: most }
  const { maxTokens } = sampling
  return { temperature: sampling.temperature ?? temperature, max_tokens: most !== null && most < maxTokens ? most : maxTokens }
}

/** The name that the model gives itself in an answer. */
export function modelOf(answer: unknown): string | null {
  return nonEmpty(member(answer, 'model'))
}

/** A text; null for an empty one, or anything else. */
export function nonEmpty(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** The largest number of tokens; larger numbers and sums are capped at it (M54). */
const maxTokens = 2 ** 31 - 1

/** A number of tokens: an integer by its value. Null for anything else (M54). */
export function tokens(value: unknown): number | null {
  const count = typeof value === 'number' || value instanceof JsonNumber ? Number(value) : NaN
  return Number.isInteger(count) && count >= 0 && count <= maxTokens ? count : null
}

export function tokenSum(...counts: readonly number[]): number {
  return Math.min(counts.reduce((sum, count) => sum + count, 0), maxTokens)
}

/** The total defaults to the sum of the other two (GA 7.12). */
export function usageOf(input: number | null, output: number | null, total: number | null): Usage {
  return { input, output, total: total ?? (input === null || output === null ? null : tokenSum(input, output)) }
}
