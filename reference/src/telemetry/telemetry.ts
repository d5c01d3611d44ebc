/*
 * What the server tells about itself (GA 36). The libraries of OpenTelemetry are behind these interfaces, so that a server without
 * telemetry does not load them. Without telemetry there is no Telemetry at all, and nothing is spent on it.
 */

/** The head of a request, with the members of node:http. */
export interface RequestHead {
  method?: string | undefined
  url?: string | undefined
  /** Names and values in turn. */
  rawHeaders: readonly string[]
}

/** The span of a request. */
export interface RequestSpan {
  /** Runs the request, so that other spans become its children. */
  run: <T>(request: () => T) => T
  /** Called once, with the last byte or the connection. No status was sent if it is undefined. */
  end: (status: number | undefined) => void
}

/** The engine of a reply. */
export interface AgentRun {
  session: string
  /** The name of the session's provider in goose; undefined if it has none. */
  provider: string | undefined
  /** Aborted if the reply is given up. */
  signal: AbortSignal
}

/** A request to a model. */
export interface AskedModel {
  provider: string
  model: string
  url: URL
}

/** How the call of a model ended. What the model has not sent is null. */
export interface ModelOutcome {
  model: string | null
  finishReason: string | null
  inputTokens: number | null
  outputTokens: number | null
  /** A word of T16; undefined if the call has not failed. */
  errorType: string | undefined
}

export interface ModelCallSpan {
  /** Runs a part of the call, so that what is logged meanwhile belongs to it. */
  run: <T>(call: () => T) => T
  /** Called once. */
  end: (outcome: ModelOutcome) => void
}

/** A tool call that runs. */
export interface CalledTool {
  /** The whole name, as the model wrote it. */
  name: string
  id: string
  /** Aborted if the call is given up. */
  signal: AbortSignal
}

/** Runs something where something else was begun. */
export type Place = <T>(run: () => T) => T

export interface Telemetry {
  /** Begins the span of a request; undefined if it has none. */
  request: (head: RequestHead) => RequestSpan | undefined
  /** Names the route of the request that is running. */
  route: (path: string) => void
  /** Runs the engine of a reply in its span. */
  agent: <T>(agent: AgentRun, engine: () => Promise<T>) => Promise<T>
  /** Runs a call of a model for an answer, whose failure is one of its reply. */
  answer: Place
  model: (asked: AskedModel) => ModelCallSpan
  /** Runs a tool call in its span. `errorOf` is the word of T17 for a result that is an error. */
  tool: <T>(tool: CalledTool, call: () => Promise<T>, errorOf: (result: T) => string | undefined) => Promise<T>
  /** Runs something for a session outside of the request that has begun it. */
  apart: <T>(session: string, run: () => T) => T
  /** The place that is running now, for a session. */
  here: (session: string) => Place
}
