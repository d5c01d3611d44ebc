import type { McpTool } from '../domain/extension/config.ts'
import type { MessageContent } from '../domain/message/content.ts'
import type { Message } from '../domain/message/message.ts'
import type { ModelConfig } from '../domain/session/session.ts'

/** A request to a model. The history is already repaired, and the tools are in order. */
export interface ModelRequest {
  system: string
  messages: readonly Message[]
  tools: readonly McpTool[]
  /** Set if an MCP server asks. Its messages are sent unchanged: images that texts name are not read (X23). */
  sampling?: SamplingLimits
}

/** The limits that an MCP server sets for an answer. */
interface SamplingLimits {
  maxTokens: number
  /** Null means the temperature in the model's config. */
  temperature: number | null
}

/** The tokens of a call, as far as the model reports them. */
export interface Usage {
  input: number | null
  output: number | null
  total: number | null
}

/** A part of an answer: a fragment of its text, its tool calls, or its token usage. */
export interface Piece {
  /** The id of the answer; null if it was not streamed. */
  id: string | null
  /** Null if the piece contains only usage. */
  content: MessageContent[] | null
  /** Added to the session before the content is sent (M37). */
  usage: Usage | null
  /** Which of two models has answered, if the client is to be informed (M62). */
  change?: ModelChange
}

/** What a model says of its answer; null if it does not. */
export interface AnswerFacts {
  /** The name that the model gives itself. */
  model: string | null
  /** Why the answer ends, in the words of the model's API. */
  finishReason: string | null
}

/** A whole answer. */
export interface WholeAnswer extends Piece, AnswerFacts {}

/** A whole answer, with the config of the model that gave it. */
export interface Completion extends WholeAnswer {
  config: ModelConfig
}

/** The model that answered a turn, and whether it is the lead or the worker. */
export interface ModelChange {
  model: string
  mode: 'lead' | 'worker' | 'unknown'
}

/** One turn of a reply. Its model is chosen when the turn begins (M59). */
export interface Turn {
  /** The config of the model that is asked first. */
  readonly config: ModelConfig
  /**
   * Asks for an answer, streamed if the model's server supports that. Rejects with a ModelError if the call fails. A stream that
   * fails just ends (M38); iterating over it throws only the reason of the signal.
   */
  answer: (request: ModelRequest, signal: AbortSignal) => Promise<AsyncIterable<Piece>>
}

/** Asks a model for answers. */
export interface Provider {
  readonly name: string
  readonly config: ModelConfig
  beginTurn: () => Turn
  /** Asks for an answer in one piece. Rejects like `answer` of a turn. */
  complete: (request: ModelRequest, signal: AbortSignal) => Promise<Completion>
  /** Asks the fast model, if there is one, for an answer in one piece. If that fails, asks the main model (M4). */
  completeFast: (request: ModelRequest, signal: AbortSignal) => Promise<Piece>
}

/** A failed call of a model. People read its message (GA 18.9). */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  /** Whether the conversation is too long for the model. */
  readonly contextExceeded: boolean

  constructor(message: string, contextExceeded = false, options?: ErrorOptions) {
    super(message, options)
    this.contextExceeded = contextExceeded
  }
}

/** A failed attempt to get an answer. */
export interface Failure {
  error: ModelError
  /** Whether the same request may succeed a little later. */
  isTransient: boolean
}

/** The texts of an answer, joined by line feeds. */
export function textOf(content: readonly MessageContent[] | null): string {
  return (content ?? []).flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n')
}
