import type { JsonObject } from '../json/shape.ts'
import type { ModelChange } from '../llm/model.ts'
import type { Message } from '../message/message.ts'
import type { Session } from '../sessions/session.ts'

/** What a client hears while it waits for the answer to its message (GA 4.6). */
export type MessageEvent =
  | { type: 'Message'; message: Message; token_state: TokenState }
  | { type: 'Error'; error: string }
  | { type: 'Finish'; reason: 'stop'; token_state: TokenState }
  | ({ type: 'ModelChange' } & ModelChange)
  | { type: 'Notification'; request_id: string; message: McpNotification }
  | { type: 'UpdateConversation'; conversation: Message[] }
  | { type: 'Ping' }

/** A notification of MCP as it is passed on. */
export interface McpNotification {
  method: string
  params: JsonObject
}

/** What a session has cost so far; 0 where nobody knows. */
export interface TokenState {
  inputTokens: number
  outputTokens: number
  totalTokens: number
  accumulatedInputTokens: number
  accumulatedOutputTokens: number
  accumulatedTotalTokens: number
}

/** The numbers of a session's row; all 0 without one. */
export function tokenState(session: Session | undefined): TokenState {
  return {
    inputTokens: session?.input_tokens ?? 0,
    outputTokens: session?.output_tokens ?? 0,
    totalTokens: session?.total_tokens ?? 0,
    accumulatedInputTokens: session?.accumulated_input_tokens ?? 0,
    accumulatedOutputTokens: session?.accumulated_output_tokens ?? 0,
    accumulatedTotalTokens: session?.accumulated_total_tokens ?? 0,
  }
}
