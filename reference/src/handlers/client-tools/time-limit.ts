import { createContext, Script } from 'node:vm'

/** A computation took too long. */
export class TooSlowError extends Error {
  override readonly name = 'TooSlowError'
}

const context = createContext({ run: undefined as unknown })
const script = new Script('run()')

/** Runs a computation that must not wait, and stops it after this time, wherever it is. Throws a TooSlowError then. */
export function limited<T>(ms: number, run: () => T): T {
  context.run = run
  try {
    return script.runInContext(context, { timeout: ms }) as T
  } catch (error) {
    // The error belongs to the context of the script, so it is no instance of this Error.
    if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new TooSlowError('it takes too long', { cause: error })
    throw error
  } finally {
    context.run = undefined
  }
}
