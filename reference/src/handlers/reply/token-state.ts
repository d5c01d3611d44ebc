import type * as contract from '#contract'
import type { Session } from '../../domain/session/session.ts'

/** The token usage of a session so far. Unknown numbers, and all numbers without a session, are 0. */
export function tokenState(session: Session | undefined): contract.TokenState {
  return {
    inputTokens: session?.input_tokens ?? 0,
    outputTokens: session?.output_tokens ?? 0,
    totalTokens: session?.total_tokens ?? 0,
    accumulatedInputTokens: session?.accumulated_input_tokens ?? 0,
    accumulatedOutputTokens: session?.accumulated_output_tokens ?? 0,
    accumulatedTotalTokens: session?.accumulated_total_tokens ?? 0,
  }
}
