import type { Logger } from '../../log.ts'
import { withoutOwnSecrets } from '../../settings/own-secrets.ts'
import type { Environment } from '../../settings/paths.ts'
import { matches } from '../../text/pattern.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { readAfter, readBefore } from './hook-output.ts'
import { HookFailedError, runHookProcess, type HookCommand } from './hook-process.ts'
import { Slots } from './slots.ts'

/** The hooks of a server, each list in its order (CT 14.6). */
export interface HookLists {
  before: readonly HookCommand[]
  after: readonly HookCommand[]
}

export const noHooks: HookLists = { before: [], after: [] }

/** A call of a tool, as hooks see it. */
export interface HookedCall {
  tool: string
  input: JsonObject
  sessionID: string
  callID: string
  /** The client of a client tool. */
  clientID?: string | undefined
}

/** The result of a call, as hooks see it. */
export interface HookedResult {
  status: 'success' | 'error'
  /** What the tool says, or why it failed. */
  text: string
}

/** What the hooks before a call leave of it: its input, if they want another one, and the reason why it must not run. */
export interface Verdict {
  input?: JsonObject | undefined
  refusal?: { reason: string; isStopping: boolean }
}

/** How many hooks run at the same time (S87). */
const maxRunning = 32

/** The server stops, so no hook runs. */
class StoppedError extends Error {
  override readonly name = 'StoppedError'
}

/** Runs the configured hooks before and after calls of tools (CT 14.6). */
export class Hooks {
  readonly #lists: HookLists
  readonly #environment: Environment
  readonly #logger: Logger
  readonly #slots = new Slots(maxRunning)
  readonly #stopped = new AbortController()

  /** The hooks inherit this environment, without the secrets of the server. */
  constructor(lists: HookLists, environment: Environment, logger: Logger) {
    this.#lists = lists
    this.#environment = withoutOwnSecrets(environment)
    this.#logger = logger
  }

  /** Asks the hooks about a call that is about to run. Rejects only if the signal is aborted. */
  async before(call: HookedCall, signal: AbortSignal): Promise<Verdict> {
    let input: JsonObject | undefined
    for (const hook of this.#lists.before.filter(({ match }) => matches(match, call.tool))) {
      try {
        const line = lineOf('before', { ...call, input: input ?? call.input })
        const said = await readBefore(await this.#run(hook, line, signal))
        if (said.decision === 'deny') return refused(said.reason || 'Denied by hook', input)
        input = said.input ?? input
      } catch (error) {
        if (error instanceof StoppedError) return { input, refusal: { reason: error.message, isStopping: true } }
        this.#failed(hook, error)
        return refused(`Hook failed: ${hook.command[0]}`, input)
      }
    }
    return { input }
  }

  /** The text with which the hooks replace that of a result; undefined if they do not. Rejects only if the signal is aborted. */
  async after(call: HookedCall, { status, text }: HookedResult, signal: AbortSignal): Promise<string | undefined> {
    let left: string | undefined
    for (const hook of this.#lists.after.filter(({ match }) => matches(match, call.tool))) {
      try {
        const { output } = await readAfter(await this.#run(hook, lineOf('after', call, { status, text: left ?? text }), signal))
        left = output ?? left
      } catch (error) {
        if (error instanceof StoppedError) return left
        this.#failed(hook, error)
      }
    }
    return left
  }

  /** Ends all hooks, including those that would start later. */
  stop(): void {
    this.#stopped.abort(new StoppedError('Server is shutting down'))
  }

  #run(hook: HookCommand, line: string, signal: AbortSignal): Promise<Buffer> {
    const either = AbortSignal.any([signal, this.#stopped.signal])
    return this.#slots.run(either, () => runHookProcess(hook, line, this.#environment, either))
  }

  /** Logs a failure. Throws any other error. */
  #failed({ command: [program] }: HookCommand, error: unknown): void {
    if (!(error instanceof HookFailedError)) throw error
    this.#logger.warn('hook failed', { program, reason: error.message })
  }
}

function refused(reason: string, input: JsonObject | undefined): Verdict {
  return { input, refusal: { reason, isStopping: false } }
}

/** The line that a hook reads, with the keys in the order of CT 14.6. */
function lineOf(event: 'before' | 'after', { tool, input, sessionID, callID, clientID }: HookedCall, shown?: HookedResult): string {
  const client = clientID !== undefined && { clientID }
  const result = shown && { result: { status: shown.status, [shown.status === 'success' ? 'output' : 'error']: shown.text } }
  return `${stringifyJson({ event, tool, input, sessionID, callID, ...client, ...result })}\n`
}
