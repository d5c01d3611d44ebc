import type { Result } from '../message/result.ts'
import type { ToolContent } from '../message/tool-content.ts'
import type { JsonObject } from '../json/shape.ts'
import type { CallListener } from '../reply/parts.ts'
import type { McpTool } from './config.ts'

/** Says why an extension cannot be added. */
export class ExtensionError extends Error {
  override readonly name = 'ExtensionError'
}

/** An extension that an agent is connected to. */
export interface Connection {
  /** What the model should know about it. */
  readonly instructions: string
  /** Its tools, without the prefix. */
  tools: () => Promise<McpTool[]>
  /** Runs one of its tools. Rejects only when the signal is aborted. */
  call: (tool: string, args: JsonObject, listener: CallListener, signal: AbortSignal) => Promise<Result<ToolContent[]>>
  /** What it has to say in the context note; empty if nothing. */
  note: () => string
  /** Never rejects. */
  close: () => Promise<void>
}
