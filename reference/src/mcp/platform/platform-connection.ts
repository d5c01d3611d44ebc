import type { JsonObject } from '../../wire/json/shape.ts'
import type { Logger } from '../../log.ts'
import { textResult, type Result } from '../../domain/message/result.ts'
import type { ToolContent } from '../../domain/message/tool-content.ts'
import type { CallListener } from '../client/call-listener.ts'
import { Arguments, ToolError } from './arguments.ts'
import type { McpTool } from '../../domain/extension/config.ts'
import type { Connection } from '../client/connection.ts'

/** What a tool of this process returns: a text, or a whole result. */
export type PlatformAnswer = string | Result<ToolContent[]>

export interface PlatformTool {
  tool: McpTool
  /** Whether models are offered the tool; always, if this is omitted. A tool that is not offered can still be called (X26). */
  isOffered?: () => boolean | Promise<boolean>
  /** Runs the tool. If it throws a ToolError, the call still succeeds, with the text `Error: <its message>` (X26). */
  run: (args: Arguments, signal: AbortSignal) => PlatformAnswer | Promise<PlatformAnswer>
}

/** An extension that is part of this server (GA 6.7). */
export interface PlatformExtension {
  /** Called for each system prompt. If omitted, there are no instructions. */
  instructions?: () => string | Promise<string>
  /** The extension's text in the context note. If omitted, there is none. */
  note?: () => string
  tools: readonly PlatformTool[]
}

/** A connection to an extension in this process. */
export class PlatformConnection implements Connection {
  readonly #extension: PlatformExtension
  readonly #logger: Logger

  constructor(extension: PlatformExtension, logger: Logger) {
    this.#extension = extension
    this.#logger = logger
  }

  get instructions(): string | Promise<string> {
    return this.#extension.instructions?.() ?? ''
  }

  async tools(): Promise<McpTool[]> {
    const offered = await Promise.all(this.#extension.tools.map(async ({ isOffered }) => (await isOffered?.()) ?? true))
    return this.#extension.tools.filter((_, i) => offered[i]).map(({ tool }) => tool)
  }

  call(name: string, args: JsonObject, _: CallListener, signal: AbortSignal): Promise<Result<ToolContent[]>> | undefined {
    const called = this.#extension.tools.find(({ tool }) => tool.name === name)
    return called && this.#run(called, new Arguments(args), signal)
  }

  note(): string {
    return this.#extension.note?.() ?? ''
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  async #run({ tool, run }: PlatformTool, args: Arguments, signal: AbortSignal): Promise<Result<ToolContent[]>> {
    try {
      const answer = await run(args, signal)
      return typeof answer === 'string' ? textResult(answer) : answer
    } catch (error) {
      if (error instanceof ToolError) return textResult(`Error: ${error.message}`)
      signal.throwIfAborted()
      this.#logger.error('tool broke', { tool: tool.name, err: error })
      return { status: 'error', error: '-32603: Internal error' }
    }
  }
}
