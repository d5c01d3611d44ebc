import type { ClientToolDefinition } from '#contract'
import { abortable } from '../../abortable.ts'
import { unknownTool, type ClientToolCall, type ClientToolCaller, type ClientToolOutcome, type ClientTools } from '../../engine/client-tools/client-tools.ts'
import { parseText } from '../../wire/json/parse.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import type { Executions } from './executions.ts'
import type { Guards } from './guards.ts'
import type { Registry } from './registry.ts'

interface ModelCallDeps {
  registry: Registry
  executions: Executions
  guards: Guards
  /** The directory in which events are published. */
  directory: string
  /** In milliseconds. */
  timeout: number
}

/**
 * The client tools for model turns: guards a call, then executes it. The question to a person is that of goose (CT 11.6 item 4), so
 * the engine asks it between the two. A tool may disappear while a person decides, so it is looked up twice.
 */
export class ModelCalls implements ClientTools {
  readonly #deps: ModelCallDeps

  constructor(deps: ModelCallDeps) {
    this.#deps = deps
  }

  list(clientID: string): Map<string, ClientToolDefinition> {
    const { registry, guards } = this.#deps
    return new Map([...registry.definitions(clientID)].filter(([, { id }]) => guards.decisionFor(id) !== 'deny'))
  }

  asks(id: string): boolean {
    return this.#deps.guards.decisionFor(id) === 'ask'
  }

  async check({ tool: { clientID, id, name }, sessionID, input }: ClientToolCall): Promise<string | undefined> {
    const { registry, guards } = this.#deps
    if (!registry.has(clientID, id)) return unknownTool(name)
    // The numbers of a validator are doubles, as are those of a call on `/client-tools/execute`.
    const plain = parseText(stringifyJson(input)) as JsonObject // an object stays one
    return (await guards.reject({ clientID, tool: id, sessionID, input: plain }))?.body.error.message
  }

  async execute(
    { tool: { clientID, id, name }, ...call }: ClientToolCall,
    caller: ClientToolCaller,
    signal: AbortSignal,
  ): Promise<ClientToolOutcome> {
    const { registry, executions, guards, directory, timeout } = this.#deps
    signal.throwIfAborted()
    if (!registry.has(clientID, id)) return { status: 'refused', error: unknownTool(name) }
    const rejection = guards.count(clientID)
    if (rejection !== undefined) return { status: 'refused', error: rejection.body.error.message }
    return abortable<ClientToolOutcome>(signal, (resolve) => {
      const { outcome, withdraw } = executions.start({ ...call, clientID, tool: id, requestID: '', timeout, directory, caller })
      void outcome.then((ended) => {
        if (ended.type === 'success') resolve({ status: 'success', result: ended.result, attachments: ended.attachments })
        else if (ended.type !== 'withdrawn') resolve({ status: 'error', error: ended.error })
      })
      return withdraw
    })
  }
}
