import type { ClientToolDefinition, ClientToolProgress, ClientToolResult, ServerNotification } from '#contract'
import type { Message } from '../../domain/message/message.ts'
import type { Result } from '../../domain/message/result.ts'
import type { ToolContent } from '../../domain/message/tool-content.ts'
import type { Place } from '../../telemetry/telemetry.ts'
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

/** A reply that runs a call of a client tool. The calls that the client makes meanwhile report and ask here (CT 14.3, S81). */
export interface RunningReply {
  sendMessage: (message: Message) => Promise<void>
  sendNotification: (requestId: string, notification: ServerNotification) => Promise<void>
  /** A person's decision about a call. */
  waitForDecision: (id: string, signal: AbortSignal) => Promise<string>
  /** What a recipe demands as the output of the reply. */
  finalOutput: { give: (output: JsonObject, signal: AbortSignal) => Promise<Result<ToolContent[]>> }
  /** Where it runs; undefined without telemetry. */
  place: Place | undefined
}

/** Who runs a call of a client tool, and hears of it. */
export interface ClientToolCaller {
  onProgress: (report: ClientToolReport) => void
  reply: RunningReply | undefined
}

/** A call needs the answer of a person, but no reply runs it (S81). */
export class NobodyToAskError extends Error {
  override readonly name = 'NobodyToAskError'

  constructor() {
    super('The user cannot be asked about this call')
  }
}

/** How a call ended. `refused` means that the client did not get it. */
export type ClientToolOutcome =
  | { status: 'success'; result: ClientToolResult; attachments: unknown }
  | { status: 'error' | 'refused'; error: string }

/** The client tools for model turns. A call passes `check`, then the question if `asks` says so, then `execute` (CT 10, 11.6). */
export interface ClientTools {
  /** The tools that a client has now, by short name and in registry order. Tools that may never run are missing. */
  list: (clientID: string) => ReadonlyMap<string, ClientToolDefinition>
  /** Whether a person has to allow each call of a tool. */
  asks: (id: string) => boolean
  /** Why a call must not run, whatever a person decides; undefined if it may. */
  check: (call: ClientToolCall) => Promise<string | undefined>
  /** Runs a call. If the signal is aborted first, withdraws the call, and rejects with the signal's reason. */
  execute: (call: ClientToolCall, caller: ClientToolCaller, signal: AbortSignal) => Promise<ClientToolOutcome>
}

/** The error of a call to a tool that does not exist (GA 7.8). */
export function unknownTool(name: string): string {
  return `-32603: -32002: ${name}`
}
