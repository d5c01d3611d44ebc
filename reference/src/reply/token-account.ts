import type { Usage } from '../llm/model.ts'
import { tokenSum } from '../llm/wire.ts'
import type { Session } from '../sessions/session.ts'
import type { SessionStore } from '../store/session-store.ts'

/** Writes what a call has cost into the row of its session (GA 7.12). */
export function account(store: SessionStore, id: string, usage: Usage): void {
  const session = store.find(id)
  if (session === undefined) return
  store.update(id, {
    input_tokens: usage.input,
    output_tokens: usage.output,
    total_tokens: usage.total,
    ...accumulated(session, usage),
  })
}

/** The accumulated numbers with those of a call added. */
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

/** Nothing and x is x. */
function sum(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : tokenSum(a, b)
}
