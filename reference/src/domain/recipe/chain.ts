import { TemplateError } from './template-error.ts'

/*
 * Filters and comparisons follow one another without end, so a chain of them is gone through and not nested: its length is
 * bounded by the budget, and not by the stack.
 */

/** Says that a variable has no value. */
export class UndefinedError extends TemplateError {}

/** The value of the left side, or the error of an undefined variable. */
export type Result = { value: unknown } | { error: UndefinedError }

/** What a link makes of its left side. */
export type Link<S> = (left: Result, scope: S) => Result

/** A link that needs a value. */
export function link<S>(change: (value: unknown, scope: S) => unknown): Link<S> {
  return (left, scope) => ('error' in left ? left : attempt(() => change(left.value, scope)))
}

/** The first value, changed by all links in their order. */
export function chain<S>(first: (scope: S) => unknown, links: readonly Link<S>[]): (scope: S) => unknown {
  if (links.length === 0) return first
  return (scope) => {
    let result = attempt(() => first(scope))
    for (const next of links) result = next(result, scope)
    if ('error' in result) throw result.error
    return result.value
  }
}

export function attempt(evaluate: () => unknown): Result {
  try {
    return { value: evaluate() }
  } catch (error) {
    if (error instanceof UndefinedError) return { error }
    throw error
  }
}
