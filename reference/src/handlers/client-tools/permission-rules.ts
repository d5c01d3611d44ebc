import { matches } from '../../text/pattern.ts'

export const decisions = ['allow', 'ask', 'deny'] as const
export type Decision = (typeof decisions)[number]

/** What may run without a question: one decision for all tools, or one for each pattern of full tool IDs (CT 9.3). */
export type PermissionRules = Decision | ReadonlyMap<string, Decision>

/** The decision about a tool. The longest pattern that matches wins; of two that are equally long, the stricter decision. */
export function decisionFor(rules: PermissionRules, toolID: string): Decision {
  if (typeof rules === 'string') return rules
  let [longest, decision]: [number, Decision] = [-1, 'allow']
  for (const [pattern, candidate] of rules) {
    const length = Array.from(pattern).length
    if (length < longest || !matches(pattern, toolID)) continue
    if (length > longest || decisions.indexOf(candidate) > decisions.indexOf(decision)) decision = candidate
    longest = length
  }
  return decision
}
