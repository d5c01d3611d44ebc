import type { Usage } from '../../llm/model.ts'
import { tokenSum } from '../../llm/model-protocol.ts'
import type { Session } from '../../domain/session/session.ts'
import type { SessionHandle } from '../../store/session-handle.ts'

/** Stores the token usage of a call in its session (GA 7.12). */
export function account(session: SessionHandle, usage: Usage): void {
  const before = session.find()
  if (before === undefined) return
  session.update({
    input_tokens: usage.input,
    output_tokens: usage.output,
    total_tokens: usage.total,
    ...accumulated(before, usage),
  })
}

/** The accumulated numbers, plus those of a call. */
export function accumulated(
  session: Session,
  { input, output, total }: Usage,
): Pick<Session, 'accumulated_input_tokens' | 'accumulated_output_tokens' | 'accumulated_total_tokens'> {
  return {
    accumulated_input_tokens: sum(session.accumulated_input_tokens, input),
    accumulated_output_tokens: sum(session.accumulated_output_tokens, output),
    accumulated_total_tokens: sum(session.accumulated_total_tokens, total),
  }
}

/** The sum, where null counts as 0. The sum of two nulls is null. */
function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : tokenSum(a, b)
}
