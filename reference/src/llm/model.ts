import type { McpTool } from '../domain/extension/config.ts'
import type { MessageContent } from '../domain/message/content.ts'
import type { Message } from '../domain/message/message.ts'
import type { ModelConfig } from '../domain/session/session.ts'

/** What a model is asked: the history is repaired, and the tools are sorted. */
export interface ModelRequest {
  system: string
  messages: readonly Message[]
  tools: readonly McpTool[]
  /** Set when an MCP server asks: its messages are sent as they are, so images that texts name are left alone (X23). */
  sampling?: SamplingLimits
}

/** How an MCP server wants to be answered. */
interface SamplingLimits {
  maxTokens: number
  /** Null means that of the model's config. */
  temperature: number | null
}

/** How many tokens a call has cost, as far as the model says. */
export interface Usage {
  input: number | null
  output: number | null
  total: number | null
}

/** A part of an answer: a fragment of its text, its tool calls, or what it cost. */
export interface Piece {
  /** The id that the answer has; null if it was not streamed. */
  id: string | null
  /** Null when the piece is about usage alone. */
  content: MessageContent[] | null
  /** Counts before the content is sent (M37). */
  usage: Usage | null
  /** Which of two models has answered, when the client is to know (M62). */
  change?: ModelChange
}

/** A whole answer. */
export interface WholeAnswer extends Piece {
  /** What the model calls itself; null if it does not say. */
  model: string | null
}

/** A whole answer, and the config of the model that has given it. */
export interface Completion extends WholeAnswer {
  config: ModelConfig
}

/** Which model a turn was answered by, and which of the two that is. */
export interface ModelChange {
  model: string
  mode: 'lead' | 'worker' | 'unknown'
}

/** One turn of a reply: which model is asked is decided when the turn begins (M59). */
export interface Turn {
  /** The config of the model that it begins with. */
  readonly config: ModelConfig
  /** As that of a provider. */
  answer: (request: ModelRequest, signal: AbortSignal) => Promise<AsyncIterable<Piece>>
}

/** Answers for a model. */
export interface Provider {
  readonly name: string
  readonly config: ModelConfig
  /**
   * Asks for an answer, streamed if the model's server can do that. Rejects with a ModelError when the call fails. A stream
   * that fails just ends (M38); iterating it throws nothing but the reason of the signal.
   */
  answer: (request: ModelRequest, signal: AbortSignal) => Promise<AsyncIterable<Piece>>
  beginTurn: () => Turn
  /** Asks for an answer in one piece. Rejects like `answer`. */
  complete: (request: ModelRequest, signal: AbortSignal) => Promise<Completion>
  /** Asks the fast model, if there is one, for an answer in one piece; if that fails, the main one (M4). */
  completeFast: (request: ModelRequest, signal: AbortSignal) => Promise<Piece>
}

/** A call of a model that failed. People read its message (GA 18.9). */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  /** The conversation is too long for the model. */
  readonly contextExceeded: boolean

  constructor(message: string, contextExceeded = false, options?: ErrorOptions) {
    super(message, options)
    this.contextExceeded = contextExceeded
  }
}

/** The texts of an answer, joined by line feeds. */
export function textOf(content: readonly MessageContent[] | null): string {
  return (content ?? []).flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n')
}
