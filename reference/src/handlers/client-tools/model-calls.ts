import type { ClientToolDefinition } from '#contract'
import { abortable } from '../../abortable.ts'
import { unknownTool, type ClientToolCall, type ClientToolOutcome, type ClientTools } from '../../engine/client-tools/client-tools.ts'
import type { Executions } from './executions.ts'
import type { Registry } from './registry.ts'

/** The guards that act on a call before its client receives it (CT 10). */
export interface CallGuards {
  /** The permission in the configuration, by full ID. */
  permissionOf: (id: string) => 'allow' | 'ask' | 'deny'
  /** What is wrong with the input of a call; undefined if it is valid. */
  invalid: (call: ClientToolCall) => Promise<string | undefined>
  /** Counts a call of a client. Returns an error if it has made too many. */
  exceeded: (clientID: string) => string | undefined
}

/** Lets all calls pass. */
export const noGuards: CallGuards = {
  permissionOf: () => 'allow',
  invalid: () => Promise.resolve(undefined),
  exceeded: () => undefined,
}

interface ModelCallDeps {
  registry: Registry
  executions: Executions
  guards: CallGuards
  /** The directory in which events are published. */
  directory: string
  /** In milliseconds. */
  timeout: number
}

/**
 * The client tools for model turns: guards a call, then executes it. A session's client owns its tools, so there is no check of the
 * owner. A tool may disappear while a person decides, so it is looked up twice.
 */
export class ModelCalls implements ClientTools {
  readonly #deps: ModelCallDeps

  constructor(deps: ModelCallDeps) {
    this.#deps = deps
  }

  list(clientID: string): Map<string, ClientToolDefinition> {
    const { registry, guards } = this.#deps
    return new Map([...registry.definitions(clientID)].filter(([, { id }]) => guards.permissionOf(id) !== 'deny'))
  }

  asks(id: string): boolean {
    return this.#deps.guards.permissionOf(id) === 'ask'
  }

  async check(call: ClientToolCall): Promise<string | undefined> {
    const { registry, guards } = this.#deps
    const { clientID, id, name } = call.tool
    if (!registry.has(clientID, id)) return unknownTool(name)
    if (guards.permissionOf(id) === 'deny') return 'Client tools are not allowed for this agent'
    return guards.invalid(call)
  }

  async execute({ tool: { clientID, id, name }, ...call }: ClientToolCall, signal: AbortSignal): Promise<ClientToolOutcome> {
    const { registry, executions, guards, directory, timeout } = this.#deps
    signal.throwIfAborted()
    if (!registry.has(clientID, id)) return { status: 'error', error: unknownTool(name) }
    const error = guards.exceeded(clientID)
    if (error !== undefined) return { status: 'error', error }
    return abortable<ClientToolOutcome>(signal, (resolve) => {
      const { outcome, withdraw } = executions.start({ ...call, clientID, tool: id, requestID: '', timeout, directory })
      void outcome.then((ended) => {
        if (ended.type === 'success') resolve({ status: 'success', result: ended.result, attachments: ended.attachments })
        else if (ended.type !== 'withdrawn') resolve({ status: 'error', error: ended.error })
      })
      return withdraw
    })
  }
}
