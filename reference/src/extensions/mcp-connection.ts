import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  ElicitRequestSchema, ErrorCode, LoggingMessageNotificationSchema, McpError, ProgressNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { array, readShape } from '../json/shape.ts'
import type { JsonObject } from '../json/shape.ts'
import { stringifyJson } from '../json/stringify.ts'
import type { Result } from '../message/result.ts'
import { toolContent } from '../message/tool-content.ts'
import type { ToolContent } from '../message/tool-content.ts'
import type { CallListener } from '../reply/parts.ts'
import { mcpTool } from './config.ts'
import type { McpTool } from './config.ts'
import { ExtensionError } from './connection.ts'
import type { Connection } from './connection.ts'

/** The version that servers are asked to speak (GA 6.7); the SDK would ask for its newest. */
const protocolVersion = '2025-03-26'
const maxPages = 100
/** How long a server gets to end by itself. */
const closeMs = 1000

const toolPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() })
const callResult = z.looseObject({ content: z.array(z.unknown()).default([]) })

/** The codes with which the SDK says what happened to a request. */
const timedOut: number = ErrorCode.RequestTimeout
const connectionClosed: number = ErrorCode.ConnectionClosed

interface ElicitAnswer {
  [member: string]: unknown
  action: 'accept'
  content: Record<string, string | number | boolean | string[]>
}

export interface McpOptions {
  name: string
  /** The limit of each request (GA 6.7). */
  timeoutSeconds: number
  clientVersion: string
  /** Called when the connection is closed and something may be left of it. */
  cleanUp?: () => void
}

/** An extension that speaks MCP. */
export class McpConnection implements Connection {
  readonly #client: Client
  readonly #options: McpOptions
  /** The calls that run, oldest first. */
  readonly #listeners = new Set<CallListener>()

  private constructor(options: McpOptions) {
    this.#options = options
    this.#client = new Client(
      { name: 'goose', version: options.clientVersion },
      { capabilities: { sampling: {}, elicitation: {} } },
    )
    this.#client.setNotificationHandler(LoggingMessageNotificationSchema, ({ method, params }) => {
      this.#notify(method, params)
    })
    this.#client.setNotificationHandler(ProgressNotificationSchema, ({ method, params }) => {
      this.#notify(method, params)
    })
    this.#client.setRequestHandler(ElicitRequestSchema, async ({ params }) => this.#elicit(params.message, 'requestedSchema' in params ? params.requestedSchema : {}))
  }

  /** Connects, and waits until the server is ready. Rejects with an ExtensionError. */
  static async open(transport: Transport, options: McpOptions): Promise<McpConnection> {
    const connection = new McpConnection(options)
    try {
      await connection.#client.connect(withVersion(transport), connection.#limits())
      return connection
    } catch (cause) {
      await connection.close()
      throw new ExtensionError(connectReason(cause, options), { cause })
    }
  }

  get instructions(): string {
    return this.#client.getInstructions() ?? ''
  }

  async tools(): Promise<McpTool[]> {
    const tools: unknown[] = []
    let cursor: string | undefined
    for (let page = 0; page < maxPages; page++) {
      const params = cursor === undefined ? {} : { cursor }
      const answer = await this.#client.request({ method: 'tools/list', params }, toolPage, this.#limits())
      tools.push(...answer.tools)
      cursor = answer.nextCursor
      if (cursor === undefined) return readShape(array(mcpTool), tools)
    }
    throw new Error(`more than ${maxPages} pages of tools`)
  }

  async call(tool: string, args: JsonObject, listener: CallListener, signal: AbortSignal): Promise<Result<ToolContent[]>> {
    this.#listeners.add(listener)
    try {
      const params = { name: tool, arguments: args, _meta: { progressToken: listener.requestId } }
      const { content } = await this.#client.request({ method: 'tools/call', params }, callResult, this.#limits(signal))
      return { status: 'success', value: readShape(array(toolContent), content) }
    } catch (error) {
      signal.throwIfAborted()
      return { status: 'error', error: this.#callError(error) }
    } finally {
      this.#listeners.delete(listener)
    }
  }

  note(): string {
    return ''
  }

  async close(): Promise<void> {
    const closed = this.#client.close().catch(() => undefined) // it may be closed already
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, closeMs)))
    await Promise.race([closed, late])
    clearTimeout(timer)
    this.#options.cleanUp?.()
  }

  #limits(signal?: AbortSignal): RequestOptions {
    return { timeout: this.#options.timeoutSeconds * 1000, ...(signal && { signal }) }
  }

  /** With several calls at once nobody can tell whose notification it is, so each gets it (GA 18.4). */
  #notify(method: string, params: JsonObject): void {
    for (const listener of this.#listeners) listener.notified({ method, params })
  }

  async #elicit(message: string, schema: unknown): Promise<ElicitAnswer> {
    const listener = [...this.#listeners].at(-1)
    if (listener === undefined) throw new McpError(ErrorCode.InvalidRequest, 'no tool is running')
    const content = (await listener.elicit(message, schema)) as ElicitAnswer['content'] // the SDK looks at it
    return { action: 'accept', content }
  }

  /** GA 4.3, M51. */
  #callError(error: unknown): string {
    if (!(error instanceof McpError)) return `-32603: The result of the tool cannot be read`
    if (error.code === timedOut) return `-32603: No answer of ${this.#options.name} within ${this.#options.timeoutSeconds} s`
    if (error.code === connectionClosed) return `-32603: ${this.#options.name} has ended`
    const message = error.message.replace(/^MCP error -?\d+: /, '')
    return `${error.code}: ${message}${error.data === undefined ? '' : ` (${stringifyJson(error.data)})`}`
  }
}

function connectReason(error: unknown, { name, timeoutSeconds }: McpOptions): string {
  const isLate = error instanceof McpError && error.code === timedOut
  return isLate ? `No answer of ${name} within ${timeoutSeconds} s` : `Cannot connect to ${name}`
}

/** The transport, asking for the version of ours. */
function withVersion(transport: Transport): Transport {
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    const isFirst = 'method' in message && message.method === 'initialize'
    await send(isFirst ? { ...message, params: { ...message.params, protocolVersion } } : message, options)
  }
  return transport
}
