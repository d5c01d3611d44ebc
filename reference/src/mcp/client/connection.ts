import type { Result } from '../../domain/message/result.ts'
import type { ToolContent } from '../../domain/message/tool-content.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import type { CallListener } from './call-listener.ts'
import type { McpTool } from '../../domain/extension/config.ts'

/** The reason why an extension cannot be added. */
export class ExtensionError extends Error {
  override readonly name = 'ExtensionError'
}

/** An error in the MCP server's own words. They are for the client that asked, but not for the log. */
export class RefusedError extends ExtensionError {}

/** A resource in an extension's list. */
export interface ListedResource {
  uri: string
  name: string
}

/** The resources of an extension. Each method rejects only if the signal is aborted. */
export interface ResourceServer {
  list: (signal: AbortSignal) => Promise<Result<ListedResource[]>>
  /** Reads a resource. Each of its contents becomes an item of the type `resource`. */
  read: (uri: string, signal: AbortSignal) => Promise<Result<ToolContent[]>>
}

/** An agent's connection to an extension. */
export interface Connection {
  /** The extension's instructions for the model. */
  readonly instructions: string | Promise<string>
  /** Its tools, without the prefix in their names. */
  tools: () => Promise<McpTool[]>
  /** Runs one of its tools. Rejects only if the signal is aborted. Undefined if the extension is known not to have this tool. */
  call: (tool: string, args: JsonObject, listener: CallListener, signal: AbortSignal) => Promise<Result<ToolContent[]>> | undefined
  /** Undefined if the extension has not announced resources. */
  readonly resources?: ResourceServer | undefined
  /** Its text in the context note; empty if it has none. */
  note: () => string
  /** Never rejects. */
  close: () => Promise<void>
}
