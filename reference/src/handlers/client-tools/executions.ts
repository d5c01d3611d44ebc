import type { ClientToolCall, ClientToolExecutionRequest, ClientToolResponse, ClientToolResult } from '#contract'
import type { ClientToolCaller, ClientToolReport, RunningReply } from '../../engine/client-tools/client-tools.ts'
import type { Bus } from '../events/bus.ts'

/** The longest delay that a timer supports; a longer one would fire at once (S9). */
export const maxTimeout = 2 ** 31 - 1

/** A call of a tool. */
export interface Call {
  clientID: string
  /** The full ID of the tool. It is not looked up: a call of an unknown tool of a known client just times out (CT 8.1). */
  tool: string
  /** If empty, the server makes one (S12). */
  requestID: string
  sessionID: string
  messageID: string
  callID: string
  input: Record<string, unknown>
  /** In milliseconds, at most `maxTimeout`. */
  timeout: number
  /** The directory in which its events are published. */
  directory: string
  /** The reply that makes the call, if one does. */
  caller?: ClientToolCaller
}

/** An execution lasts at most this many times its timeout, however often its client reports (CT 14.2). */
const maxTimeouts = 10

/**
 * How an execution ended. `attachments` is what the client sent, unchecked (CT 2.3). `withdrawn` means that its caller disconnected;
 * no event reports this.
 */
export type Outcome =
  | { type: 'success'; result: ClientToolResult; attachments: unknown }
  | { type: 'failure'; error: string }
  | { type: 'timeout'; error: string }
  | { type: 'withdrawn' }

export interface Execution {
  outcome: Promise<Outcome>
  /** Removes the execution without publishing an event. Does nothing if it has already ended (CT 4.4). */
  withdraw: () => void
}

/** A pending execution, for the calls that its client makes meanwhile (CT 14.3). */
export interface RunningExecution {
  sessionID: string
  callID: string
  /** Undefined if no reply runs it. */
  reply: RunningReply | undefined
  /** Aborted with an ExecutionEndedError when it ends. */
  ended: AbortSignal
  /** Counts one more call of the client. Undefined after the last one that it may make; else the number of the call, from 1. */
  countCall: () => number | undefined
}

/** The reason why the calls of an execution end. */
export class ExecutionEndedError extends Error {
  override readonly name = 'ExecutionEndedError'
}

/** How many calls the client of an execution may make (CT 14.3). */
const maxCalls = 100

interface Pending {
  call: ClientToolCall
  /** The request, until a stream of the client gets it that was away (CT 14.4). */
  request?: ClientToolExecutionRequest | undefined
  directory: string
  timeout: number
  since: number
  timer: NodeJS.Timeout
  caller: ClientToolCaller | undefined
  ended: AbortController
  /** How many calls its client has made. */
  calls: number
  resolve: (outcome: Outcome) => void
}

/** The texts with which executions fail. */
export const disconnected = 'Client disconnected'
export const stopping = 'Server is shutting down'

/** The executions that wait for a result (CT 8.1). The end of an execution is published before its request is answered (S13). */
export class Executions {
  readonly #bus: Bus
  readonly #isAway: (clientID: string) => boolean
  readonly #pending = new Map<string, Pending>()
  #stopped = false

  /** `isAway` says whether a client is away, but its tools stay. */
  constructor(bus: Bus, isAway: (clientID: string) => boolean = () => false) {
    this.#bus = bus
    this.#isAway = isAway
  }

  has(requestID: string): boolean {
    return this.#pending.has(requestID)
  }

  /** Publishes a call and waits for its end. The request ID must not be pending. */
  start({ clientID, tool, requestID, sessionID, messageID, callID, input, timeout, directory, caller }: Call): Execution {
    if (this.#stopped) {
      const outcome = Promise.resolve<Outcome>({ type: 'failure', error: stopping })
      return { outcome, withdraw: () => undefined }
    }
    const id = requestID === '' ? this.#newID(clientID, callID) : requestID
    if (this.#pending.has(id)) throw new Error(`request ID ${JSON.stringify(id)} is already pending`)
    const call: ClientToolCall = { sessionID, messageID, callID, tool, clientID }
    const request: ClientToolExecutionRequest = {
      type: 'client-tool-request',
      requestID: id,
      sessionID,
      messageID,
      callID,
      tool,
      input,
    }

    this.#bus.publish(directory, { type: 'client-tool.executing', properties: call })
    const outcome = new Promise<Outcome>((resolve) => {
      const timer = this.#startTimer(id, timeout, timeout)
      const waits = this.#isAway(clientID) ? request : undefined
      const [since, ended] = [performance.now(), new AbortController()]
      this.#pending.set(id, { call, request: waits, directory, timeout, since, timer, caller, ended, calls: 0, resolve })
    })
    const pending = this.#pending.get(id)
    this.#bus.publish(directory, { type: 'client-tool.request', properties: { clientID, request } })
    const withdraw = (): void => {
      // A newer execution may have the same ID.
      if (this.#pending.get(id) === pending) this.#take(id)?.resolve({ type: 'withdrawn' })
    }
    return { outcome, withdraw }
  }

  /** Undefined if no execution with this ID is pending. */
  running(requestID: string): RunningExecution | undefined {
    const pending = this.#pending.get(requestID)
    if (pending === undefined) return undefined
    const { call: { sessionID, callID }, caller, ended } = pending
    const countCall = (): number | undefined => (pending.calls === maxCalls ? undefined : ++pending.calls)
    return { sessionID, callID, reply: caller?.reply, ended: ended.signal, countCall }
  }

  /** The requests that a client that was away has to get, in the order in which they were issued. Each is returned once. */
  waitingFor(clientID: string, directory: string): ClientToolExecutionRequest[] {
    return [...this.#pending.values()].flatMap((pending) => {
      const { call, request } = pending
      if (request === undefined || call.clientID !== clientID || pending.directory !== directory) return []
      pending.request = undefined
      return [request]
    })
  }

  /** Ends an execution with its client's response. Returns false if no execution with this ID is pending. */
  settle(requestID: string, response: ClientToolResponse, directory: string): boolean {
    const pending = this.#take(requestID)
    if (pending === undefined) return false
    switch (response.status) {
      case 'success': {
        const { status, title, output, metadata, attachments } = response
        const properties = { ...pending.call, success: true } as const
        this.#bus.publish(directory, { type: 'client-tool.completed', properties })
        const result = { status, title, output, ...(metadata !== undefined && { metadata }) }
        pending.resolve({ type: 'success', result, attachments })
        break
      }
      case 'error':
        this.#fail(pending, directory, { type: 'failure', error: response.error })
        break
      default:
        response satisfies never
    }
    return true
  }

  /** Publishes a report, and gives the execution its whole timeout again. Returns false if none with this ID is pending. */
  report(requestID: string, { progress, total, message }: ClientToolReport): boolean {
    const pending = this.#pending.get(requestID)
    if (pending === undefined) return false
    const { call: { sessionID, messageID, callID, clientID, tool }, directory, timeout, since, timer, caller } = pending
    clearTimeout(timer)
    const left = Math.max(0, Math.ceil(since + maxTimeouts * timeout - performance.now()))
    pending.timer = this.#startTimer(requestID, timeout, Math.min(timeout, left))
    const report = { progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) }
    const properties = { sessionID, messageID, callID, clientID, requestID, tool, ...report }
    this.#bus.publish(directory, { type: 'client-tool.progress', properties })
    caller?.onProgress(report)
    return true
  }

  /** Fails all executions that wait for a client. Their events go to the directory of the client's closed stream (CT 3.6, 5.1). */
  disconnect(clientID: string, directory: string): void {
    for (const [id, { call }] of [...this.#pending]) {
      if (call.clientID !== clientID) continue
      const pending = this.#take(id)
      if (pending) this.#fail(pending, directory, { type: 'failure', error: disconnected })
    }
  }

  /** Fails all executions, including those that start later (S19). */
  stop(): void {
    this.#stopped = true
    for (const id of [...this.#pending.keys()]) {
      const pending = this.#take(id)
      if (pending) this.#fail(pending, pending.directory, { type: 'failure', error: stopping })
    }
  }

  #startTimer(id: string, timeout: number, ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timeOut(id, timeout)
    }, ms)
  }

  #timeOut(id: string, timeout: number): void {
    const pending = this.#take(id)
    const error = `Client tool execution timed out after ${timeout}ms`
    if (pending) this.#fail(pending, pending.directory, { type: 'timeout', error })
  }

  #fail(pending: Pending, directory: string, outcome: Extract<Outcome, { error: string }>): void {
    const properties = { ...pending.call, error: outcome.error }
    this.#bus.publish(directory, { type: 'client-tool.failed', properties })
    pending.resolve(outcome)
  }

  /** Removes an entry, so that it can end only once, and ends the calls of its client. */
  #take(id: string): Pending | undefined {
    const pending = this.#pending.get(id)
    if (pending === undefined) return undefined
    clearTimeout(pending.timer)
    this.#pending.delete(id)
    pending.ended.abort(new ExecutionEndedError('The execution has ended'))
    return pending
  }

  #newID(clientID: string, callID: string): string {
    const id = `${clientID}_${callID}_${Date.now()}`
    let unique = id
    for (let n = 2; this.#pending.has(unique); n++) unique = `${id}_${n}`
    return unique
  }
}
