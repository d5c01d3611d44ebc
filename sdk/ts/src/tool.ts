import { isObject, type JsonObject } from './json.ts'
import type { JsonSchema, StandardSchema } from './schema.ts'

export interface ToolDescription {
  /** Tells the model what the tool does. */
  description: string
  /** A JSON Schema of the input. */
  parameters: JsonSchema
  /** Validates the input before the handler sees it. */
  validator?: StandardSchema | undefined
}

export interface ToolResult {
  title: string
  /** What the model sees. */
  output: string
  metadata?: JsonObject
  attachments?: readonly { mime: string; url: string }[]
}

export interface ToolContext {
  sessionID: string
  messageID: string
  callID: string
  /** Aborted after the client's `timeout`, and by `disconnect`. It only informs: the result of the handler is sent anyway. */
  signal: AbortSignal
  /** Reports progress, and restarts the server's timer for this call (CT 14.2). */
  progress: (progress: number, details?: { total?: number; message?: string }) => Promise<void>
  /** Calls a tool of the server, and returns its content (CT 14.3). */
  callTool: (tool: string, input?: JsonObject, options?: { signal?: AbortSignal }) => Promise<unknown[]>
}

export type ToolHandler<Input> = (input: Input, context: ToolContext) => ToolResult | Promise<ToolResult>

/** A tool as a connection sees it. */
export interface Tool {
  definition: { id: string; description: string; parameters: JsonSchema }
  run: (input: JsonObject, context: ToolContext) => Promise<unknown>
}

export type ToolResponse = { status: 'success' } & ToolResult | { status: 'error'; error: string }

/** What the server asks for (CT 2.2). */
export interface ToolRequest {
  requestID: string
  sessionID: string
  messageID: string
  callID: string
  tool: string
  input: JsonObject
}

/** Reads a request; undefined if it is invalid (S60). */
export function readToolRequest(value: unknown): ToolRequest | undefined {
  if (!isObject(value)) return undefined
  const { requestID, tool, sessionID, messageID, callID, input } = value
  if (typeof requestID !== 'string' || typeof tool !== 'string') return undefined
  const text = (field: unknown): string => (typeof field === 'string' ? field : '')
  return {
    requestID, tool, sessionID: text(sessionID), messageID: text(messageID), callID: text(callID),
    input: isObject(input) ? input : {},
  }
}

/** The response for a value that a handler returned (CT 2.3, S61). */
export function toolResponse(value: unknown): ToolResponse {
  if (!isObject(value) || typeof value.title !== 'string' || typeof value.output !== 'string') {
    return { status: 'error', error: 'Invalid tool result' }
  }
  const { title, output, metadata, attachments } = value as unknown as ToolResult // the server checks the rest
  return {
    status: 'success', title, output,
    ...(metadata === undefined ? {} : { metadata }), ...(attachments === undefined ? {} : { attachments }),
  }
}
