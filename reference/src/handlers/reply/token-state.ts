import type * as contract from '#contract'
import type { Session } from '../../domain/session/session.ts'

/** What a session has cost so far: all 0 without a session, and 0 for what is unknown. */
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
