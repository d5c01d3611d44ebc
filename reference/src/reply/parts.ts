import type { Agent } from '../agent/agent.ts'
import type { Agents } from '../agent/agents.ts'
import type { AgentParts, Extensions } from '../agent/parts.ts'
import type { McpTool } from '../extensions/config.ts'
import type { JsonObject } from '../json/shape.ts'
import type { Provider } from '../llm/model.ts'
import type { Providers } from '../llm/providers.ts'
import type { Logger } from '../log.ts'
import type { Result } from '../message/result.ts'
import type { ToolContent } from '../message/tool-content.ts'
import type { Workshop } from '../recipe/workshop.ts'
import type { Settings } from '../settings/settings.ts'
import type { OwnSession } from '../store/own-session.ts'
import type { SessionStore } from '../store/session-store.ts'
import type { Confirmations } from './confirmations.ts'
import type { Elicitations } from './elicitations.ts'
import type { McpNotification } from './events.ts'
import type { LargeTexts } from './large-text.ts'
import type { Naming } from './naming.ts'
import type { SamplingAnswer, SamplingRequest } from './sampling.ts'

/** What a call of a tool tells and asks while it runs. */
export interface CallListener {
  /** The id of the request, which the extension gets to tell progress by. */
  requestId: string
  /** Never fails. */
  notified: (notification: McpNotification) => void
  /** What a person answers. Rejects when nobody does before the signal is aborted. */
  elicit: (message: string, schema: unknown, signal: AbortSignal) => Promise<unknown>
  /** What the model of the agent answers. Rejects with a ModelError, or when the signal is aborted. */
  sample: (request: SamplingRequest, signal: AbortSignal) => Promise<SamplingAnswer>
}

/** The extensions of an agent, as replies use them. */
export interface ReplyExtensions extends Extensions {
  /** The instructions of each, by its normalised key. */
  instructions: () => Promise<ReadonlyMap<string, string>>
  /** What they have to say in the context note, in the order of their keys. */
  notes: () => string[]
  /** Tools that the client runs, under their own names. */
  frontendTools: () => readonly McpTool[]
  /** Runs a tool, by its full name. Rejects only when the signal is aborted; undefined when no extension has such a tool. */
  call: (name: string, args: JsonObject, listener: CallListener, signal: AbortSignal) => Promise<Result<ToolContent[]>> | undefined
}

/** What the agents of this server are made of. */
export interface EngineParts extends AgentParts {
  session: OwnSession
  extensions: ReplyExtensions
  /** Set when the agent has a provider. */
  model: { provider: Provider | null }
}

export type EngineAgent = Agent<EngineParts>

export interface ReplyParts {
  store: SessionStore
  settings: Settings
  agents: Agents<EngineParts>
  providers: Providers
  naming: Naming
  workshop: Workshop
  confirmations: Confirmations
  elicitations: Elicitations
  largeTexts: LargeTexts
  logger: Logger
}

/** The parts of a new agent with these extensions. */
export function engineParts<E extends ReplyExtensions>(session: OwnSession, extensions: E): EngineParts & { extensions: E } {
  return { session, extensions, model: { provider: null } }
}
