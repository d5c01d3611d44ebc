import { TemplateError } from './template-error.ts'

/*
 * Filters and comparisons may form chains of any length. A chain is evaluated in a loop instead of by recursion, so the budget
 * limits its length, and not the stack.
 */

/** A variable has no value. */
export class UndefinedError extends TemplateError {}

/** The value of the left side, or the error for an undefined variable. */
export type Result = { value: unknown } | { error: UndefinedError }

/** One step of a chain: computes a value from the left side. */
export type Link<S> = (left: Result, scope: S) => Result

/** A link that requires a value. */
export function link<S>(change: (value: unknown, scope: S) => unknown): Link<S> {
  return (left, scope) => ('error' in left ? left : attempt(() => change(left.value, scope)))
}

/** Applies all links, in order, to the first value. */
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
