import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { isObject } from '../../wire/json/is-object.ts'
import { ShapeError, anything, array, object, readShape, string, type JsonObject } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { statusWithName } from '../../llm/failures.ts'
import { ModelError } from '../../llm/model.ts'
import type { Result } from '../../domain/message/result.ts'
import { toolContent, type ToolContent } from '../../domain/message/tool-content.ts'
import type { CallListener } from './call-listener.ts'
import { samplingRequest, type SamplingAnswer, type SamplingRequest } from './sampling.ts'
import { mcpTool, type McpTool } from '../../domain/extension/config.ts'
import { NotSignedInError } from './authorization.ts'
import { ExtensionError, RefusedError, type Connection, type ListedResource, type ResourceServer } from './connection.ts'
import { ProtocolViolationError } from './event-messages.ts'
import { notificationOf } from './notifications.ts'
import { redactError } from './redact-error.ts'
import { RpcError } from './rpc-error.ts'

/** The protocol version that is requested (GA 6.7); the SDK would request its newest one. */
const protocolVersion = '2025-03-26'
/** The versions that a server may choose (X1). */
const spokenVersions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
/** The most pages of a list, and the most bytes of all its pages (X12). */
const maxPages = 100
const maxListBytes = 64 * 1024 * 1024
const maxQuestions = 16

const page = z.looseObject({ nextCursor: z.string().optional() })
const readResult = z.looseObject({ contents: z.array(z.unknown()) })
const listedResource = object<ListedResource>({ uri: string, name: string })
const callResult = z.looseObject({ content: z.array(z.unknown()).nullish(), isError: z.unknown().optional() })

/** The longest delay of a Node timer. The SDK's own time limits are not used, because a server may send their error code too. */
const unlimitedMs = 2 ** 31 - 1

interface McpOptions {
  /** The time limit of each request (GA 6.7). */
  timeoutSeconds: number
  clientVersion: string
  /** The origin of the extension's URL; undefined for a process. */
  origin: string | undefined
  /** Called when an open connection ends unexpectedly. */
  onLost?: () => void
  /** Aborts the attempt to connect. The reason is an ExtensionError. */
  signal?: AbortSignal
}

/** A call without a response yet. Its questions to the person end with it. */
interface RunningCall {
  listener: CallListener
  over: AbortController
}

/** An extension that uses MCP. */
export class McpConnection implements Connection {
  readonly #client: Client
  readonly #options: McpOptions
  /** The running calls, oldest first. */
  readonly #running = new Set<RunningCall>()
  /** The number of unanswered questions. */
  #questions = 0
  #closed = false
  /** Whether the connection is open, and nobody has requested its end. */
  #connected = false
  /** The protocol violation that ended the connection. */
  #broken: ProtocolViolationError | undefined

  private constructor(options: McpOptions) {
    this.#options = options
    this.#client = new Client(
      { name: 'goose', version: options.clientVersion },
      { capabilities: { sampling: {}, elicitation: {} } },
    )
    this.#client.onclose = () => {
      this.#closed = true
      if (this.#connected) options.onLost?.()
      this.#connected = false
    }
    this.#client.onerror = (error) => {
      if (error instanceof ProtocolViolationError) this.#broken = error
    }
    // The SDK's own handler knows only tokens that the SDK has assigned.
    this.#client.removeNotificationHandler('notifications/progress')
    this.#client.fallbackNotificationHandler = ({ method, params }) => {
      this.#notify(method, params)
      return Promise.resolve()
    }
    // The SDK's own handlers would validate the answer, which is the server's task (X9).
    this.#client.fallbackRequestHandler = async ({ method, params }) => {
      if (method === 'elicitation/create') return this.#question(async () => ({ action: 'accept', content: await this.#elicit(params ?? {}) }))
      if (method === 'sampling/createMessage') return this.#question(async () => ({ ...(await this.#sample(params ?? {})) }))
      throw new RpcError(ErrorCode.MethodNotFound, 'Method not found')
    }
  }

  /** Connects, and waits until the server is ready. Rejects with an ExtensionError. */
  static async open(transport: Transport, options: McpOptions): Promise<McpConnection> {
    const connection = new McpConnection(options)
    try {
      await connection.#limited((limits) => connection.#client.connect(withVersion(transport), limits), options.signal)
      connection.#connected = true
      return connection
    } catch (cause) {
      await connection.close()
      throw cause instanceof ExtensionError ? cause : connectError(connection.#broken ?? cause, options)
    }
  }

  get instructions(): string {
    return this.#client.getInstructions() ?? ''
  }

  async tools(): Promise<McpTool[]> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return []
    try {
      return readShape(array(mcpTool), await this.#listed('tools'))
    } catch (error) {
      throw redactError(error) // for logs
    }
  }

  get resources(): ResourceServer | undefined {
    if (this.#client.getServerCapabilities()?.resources === undefined) return undefined
    return {
      list: (signal) => this.#answered(signal, async () => readShape(array(listedResource), await this.#listed('resources', signal))),
      read: (uri, signal) => this.#answered(signal, () => this.#read(uri, signal)),
    }
  }

  async call(tool: string, args: JsonObject, listener: CallListener, signal: AbortSignal): Promise<Result<ToolContent[]>> {
    const call: RunningCall = { listener, over: new AbortController() }
    const endQuestions = (): void => {
      call.over.abort(new UnansweredError('the call is over'))
    }
    this.#running.add(call)
    try {
      return await this.#answered(signal, async () => {
        const params = { name: tool, arguments: args, _meta: { progressToken: listener.requestId } }
        const request = { method: 'tools/call', params }
        const { content, isError } = await this.#limited((limits) => this.#client.request(request, callResult, limits), signal, endQuestions)
        const read = readShape(array(toolContent), content ?? [])
        if (isError === true) listener.onErrorResult?.()
        return read
      })
    } finally {
      this.#running.delete(call)
      endQuestions()
    }
  }

  note(): string {
    return ''
  }

  async close(): Promise<void> {
    this.#connected = false
    await this.#client.close().catch(() => undefined) // it may be closed already
  }

  /** All pages of a list (X2). */
  async #listed(what: 'tools' | 'resources', signal?: AbortSignal): Promise<unknown[]> {
    const items: unknown[] = []
    let bytes = 0
    let cursor: string | undefined
    for (let number = 0; number < maxPages; number++) {
      const request = { method: `${what}/list`, params: cursor === undefined ? {} : { cursor } }
      const answer = await this.#limited((limits) => this.#client.request(request, page, limits), signal)
      for (const item of readShape(array(anything), answer[what])) items.push(item)
      if (answer.nextCursor === undefined && cursor === undefined) return items
      bytes += Buffer.byteLength(stringifyJson(answer))
      if (bytes > maxListBytes) throw new EndlessListError(`more than ${maxListBytes} bytes of ${what}`)
      cursor = answer.nextCursor
      if (cursor === undefined) return items
    }
    throw new EndlessListError(`more than ${maxPages} pages of ${what}`)
  }

  async #read(uri: string, signal: AbortSignal): Promise<ToolContent[]> {
    const request = { method: 'resources/read', params: { uri } }
    const { contents } = await this.#limited((limits) => this.#client.request(request, readResult, limits), signal)
    return readShape(array(toolContent), contents.map((resource) => ({ type: 'resource', resource })))
  }

  /** The result of a request, in the form for models. Rejects only if the signal is aborted. */
  async #answered<T>(signal: AbortSignal, request: () => Promise<T>): Promise<Result<T>> {
    try {
      return { status: 'success', value: await request() }
    } catch (error) {
      signal.throwIfAborted()
      return { status: 'error', error: this.#callError(error) }
    }
  }

  /**
   * Sends one request with its time limit (X4). Rejects with an UnansweredError if no response comes, and with an McpError if the
   * response is an error. `beforeCancel` is called after a timeout, before the cancellation is sent.
   */
  async #limited<T>(request: (limits: RequestOptions) => Promise<T>, signal?: AbortSignal, beforeCancel?: () => void): Promise<T> {
    const { timeoutSeconds } = this.#options
    // AbortSignal.any does not work here: Node never frees its signals while they have listeners, and the SDK never removes its
    // listeners.
    const over = new AbortController()
    const follow = (): void => {
      over.abort(signal?.reason)
    }
    if (signal?.aborted === true) follow()
    else signal?.addEventListener('abort', follow)
    let timer: NodeJS.Timeout | undefined
    const timeOver = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        beforeCancel?.()
        reject(new UnansweredError(`No answer within ${timeoutSeconds} s`))
        // The messages that this causes are sent first.
        setImmediate(() => {
          over.abort(`No answer within ${timeoutSeconds} s`)
        })
      }, timeoutSeconds * 1000)
    })
    try {
      return await Promise.race([request({ signal: over.signal, timeout: unlimitedMs }), timeOver])
    } catch (cause) {
      signal?.throwIfAborted()
      throw this.#closed && isClosure(cause) ? new UnansweredError('Connection closed', { cause }) : cause
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', follow)
    }
  }

  /** A notification does not name its call, so every running call receives it (GA 18.4). */
  #notify(method: string, params: unknown): void {
    const notification = notificationOf(method, params)
    if (notification === undefined) return
    for (const { listener } of this.#running) listener.onNotification(notification)
  }

  /** Answers a server's question to the person or to the model. */
  async #question<T>(answer: () => Promise<T>): Promise<T> {
    if (this.#questions === maxQuestions) throw new RpcError(ErrorCode.InternalError, 'Too many open questions')
    this.#questions++
    try {
      return await answer()
    } finally {
      this.#questions--
    }
  }

  async #sample(params: Record<string, unknown>): Promise<SamplingAnswer> {
    const request = samplingRequestOf(params)
    const [call] = this.#running
    if (call === undefined) throw new RpcError(ErrorCode.InternalError, 'No tool is running')
    try {
      return await call.listener.sample(request, call.over.signal)
    } catch (cause) {
      throw new RpcError(ErrorCode.InternalError, cause instanceof ModelError ? cause.message : 'The tool call is over', { cause })
    }
  }

  async #elicit(params: Record<string, unknown>): Promise<unknown> {
    const { mode, message } = params
    if ((mode ?? 'form') !== 'form') throw new RpcError(ErrorCode.InvalidParams, 'Only forms are supported')
    if (typeof message !== 'string') throw new RpcError(ErrorCode.InvalidParams, 'The question has no message')
    const [call] = this.#running
    if (call === undefined) throw new RpcError(ErrorCode.InternalError, 'No tool is running')
    try {
      return await call.listener.elicit(message, params.requestedSchema ?? {}, call.over.signal)
    } catch (cause) {
      throw new RpcError(ErrorCode.InternalError, 'Timeout waiting for user response', { cause })
    }
  }

  /** The error text of a failed call (GA 4.3, X5). */
  #callError(error: unknown): string {
    const isUnreadable = error instanceof ShapeError || error instanceof z.core.$ZodError || error instanceof EndlessListError
    if (isUnreadable) return '-32603: The answer of the tool cannot be read'
    if (error instanceof McpError) return rpcText(error)
    return `-32603: ${error instanceof UnansweredError || error instanceof NotSignedInError ? error.message : 'Connection closed'}`
  }
}

function samplingRequestOf(params: Record<string, unknown>): SamplingRequest {
  try {
    return readShape(samplingRequest, params)
  } catch (cause) {
    throw new RpcError(ErrorCode.InvalidParams, 'The sampling request cannot be read', { cause })
  }
}

/** Whether this error is the SDK's report of a closed connection. A server may use the same code. */
function isClosure(error: unknown): boolean {
  return error instanceof McpError && error.message === `MCP error ${ErrorCode.ConnectionClosed}: Connection closed`
}

/** A list has too many pages, or never ends. */
class EndlessListError extends Error {
  override readonly name = 'EndlessListError'
}

/** No response has come, and none will. */
class UnansweredError extends Error {
  override readonly name = 'UnansweredError'
}

/** The error that the server has sent, as a text. */
function rpcText({ code, message, data }: McpError): string {
  return `${code}: ${message.replace(/^MCP error -?\d+: /, '')}${data === undefined || data === null ? '' : ` (${stringifyJson(data)})`}`
}

/** The error of a failed attempt to connect. */
function connectError(error: unknown, options: McpOptions): ExtensionError {
  const cause = redactError(error)
  if (error instanceof McpError) return new RefusedError(rpcText(error), { cause })
  return new ExtensionError(connectReason(error, options), { cause })
}

/** The reason for the failure. The order is that of the table in docs/behaviour/goose-api.md. */
function connectReason(error: unknown, { origin }: McpOptions): string {
  if (error instanceof UnansweredError) return error.message
  if (error instanceof ProtocolViolationError) return 'Extension does not speak MCP'
  const code = isObject(error) && typeof error.code === 'number' ? error.code : undefined
  if (origin !== undefined && code !== undefined && code >= 300) return `Cannot connect to ${origin}: ${statusWithName(code)}`
  if (origin !== undefined && isConnectionError(error)) return `Cannot connect to ${origin}`
  return origin === undefined && !(error instanceof z.core.$ZodError) && !isVersionError(error) ? 'Connection closed' : 'Extension does not speak MCP'
}

/** Whether there was no response: fetch then throws a TypeError, and the error of an event source has no status. */
function isConnectionError(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && error.message.startsWith('SSE error'))
}

function isVersionError(error: unknown): boolean {
  return error instanceof Error && error.message.includes('protocol version')
}

/** The transport, which requests the protocol version of this server. */
function withVersion(transport: Transport): Transport {
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    const isFirst = 'method' in message && message.method === 'initialize'
    await send(isFirst ? { ...message, params: { ...message.params, protocolVersion } } : message, options)
  }
  const setVersion = transport.setProtocolVersion?.bind(transport)
  transport.setProtocolVersion = (version) => {
    // The SDK also accepts older versions.
    if (!spokenVersions.includes(version)) throw new Error(`the protocol version ${version} is not spoken`)
    setVersion?.(version)
  }
  return transport
}
