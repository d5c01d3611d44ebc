import { createContext, Script } from 'node:vm'

/** A computation took too long. */
export class TooSlowError extends Error {
  override readonly name = 'TooSlowError'
}

const context = createContext({ run: undefined as unknown })
const script = new Script('run()')

/** How often a computation is begun again because the machine gave this process too little time. */
const maxAttempts = 10

/** Runs a computation that must not wait, and stops it after this time, wherever it is. Throws a TooSlowError then. */
export function limited<T>(ms: number, run: () => T): T {
  context.run = run
  try {
    for (let attempt = 1; ; attempt++) {
      const before = process.cpuUsage()
      try {
        return script.runInContext(context, { timeout: ms }) as T
      } catch (error) {
        // The error belongs to the context of the script, so it is no instance of this Error.
        if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
        const { user, system } = process.cpuUsage(before)
        if ((user + system) / 1000 < ms / 2 && attempt < maxAttempts) continue
        throw new TooSlowError('it takes too long', { cause: error })
      }
    }
  } finally {
    context.run = undefined
  }
}
