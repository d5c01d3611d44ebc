import type { Result } from '../../domain/message/result.ts'
import type { ToolContent } from '../../domain/message/tool-content.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import type { CallListener } from './call-listener.ts'
import type { McpTool } from '../../domain/extension/config.ts'

/** The reason why an extension cannot be added. */
export class ExtensionError extends Error {
  override readonly name = 'ExtensionError'
}

/** An error in the words of the MCP server, for the client that asked and not for the log. */
export class RefusedError extends ExtensionError {}

/** What an extension says of a resource that it has. */
export interface ListedResource {
  uri: string
  name: string
}

/** The resources of an extension. Each method rejects only when the signal is aborted. */
export interface ResourceServer {
  list: (signal: AbortSignal) => Promise<Result<ListedResource[]>>
  /** Each content as an item of the type `resource`. */
  read: (uri: string, signal: AbortSignal) => Promise<Result<ToolContent[]>>
}

/** An extension that an agent is connected to. */
export interface Connection {
  /** What the model should know about it. */
  readonly instructions: string | Promise<string>
  /** Its tools, without the prefix. */
  tools: () => Promise<McpTool[]>
  /** Runs one of its tools. Rejects only when the signal is aborted; undefined when it is known to have no such tool. */
  call: (tool: string, args: JsonObject, listener: CallListener, signal: AbortSignal) => Promise<Result<ToolContent[]>> | undefined
  /** Undefined when it has not announced any. */
  readonly resources?: ResourceServer | undefined
  /** What it has to say in the context note; empty if nothing. */
  note: () => string
  /** Never rejects. */
  close: () => Promise<void>
}
