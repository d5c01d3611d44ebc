import type { ClientToolDefinition, ClientToolProgress, ClientToolResult } from '#contract'
import type { JsonObject } from '../../wire/json/shape.ts'

/** A tool of a client, as a model was offered it. */
export interface ClientTool {
  clientID: string
  /** The full ID, which the client and the bus events see. */
  id: string
  /** The name that the model, its conversation and permission.yaml see. */
  name: string
}

/** A model's call of a client tool. */
export interface ClientToolCall {
  tool: ClientTool
  sessionID: string
  /** Empty if the message of the call has no ID. */
  messageID: string
  callID: string
  input: JsonObject
}

/** How far a call is, as its client reports it (CT 14.2). */
export type ClientToolReport = Pick<ClientToolProgress, 'progress' | 'total' | 'message'>

export type ClientToolOutcome =
  | { status: 'success'; result: ClientToolResult; attachments: unknown }
  | { status: 'error'; error: string }

/** The client tools for model turns. A call passes `check`, then the question if `asks` says so, then `execute` (CT 10, 11.6). */
export interface ClientTools {
  /** The tools that a client has now, by short name and in registry order. Tools that may never run are missing. */
  list: (clientID: string) => ReadonlyMap<string, ClientToolDefinition>
  /** Whether a person has to allow each call of a tool. */
  asks: (id: string) => boolean
  /** Why a call must not run, whatever a person decides; undefined if it may. */
  check: (call: ClientToolCall) => Promise<string | undefined>
  /** Runs a call. If the signal is aborted first, withdraws the call, and rejects with the signal's reason. */
  execute: (call: ClientToolCall, onProgress: (report: ClientToolReport) => void, signal: AbortSignal) => Promise<ClientToolOutcome>
}

/** The error of a call to a tool that does not exist (GA 7.8). */
export function unknownTool(name: string): string {
  return `-32603: -32002: ${name}`
}
