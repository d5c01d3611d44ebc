import { ClientToolsError, messageOf } from './errors.ts'
import type { Http } from './http.ts'
import { isObject, parseJson } from './json.ts'
import { Scope } from './scope.ts'
import type { OpenStream } from './streams.ts'
import { type Tool, type ToolContext, type ToolRequest, type ToolResponse, toolResponse } from './tool.ts'

const [maxAttempts, firstWaitMs, maxWaitMs, checkAfterMs] = [5, 1000, 30_000, 1000]

export interface Logger {
  debug: (message: string, fields?: object) => void
  warn: (message: string, fields?: object) => void
}

export interface ConnectionOptions {
  http: Http
  clientID: string
  /** How long a handler may run before its signal is aborted. */
  timeout: number
  openStream: OpenStream
  onError: (error: unknown) => void
  onReconnect: (attempt: number, waitMs: number) => void
  logger: Logger
}

/** What lasts from `connect` to `disconnect`: the stream and its successors, and the handlers. */
export class Connection {
  /** Settles when `connect` does (S57). */
  readonly connected: Promise<void>
  readonly #ended: Promise<void>
  readonly #scope = new Scope()
  readonly #options: ConnectionOptions
  readonly #tools: ReadonlyMap<string, Tool>
  #attempts = 0
  /** Whether the server knows the tools of this connection, as far as one can tell. */
  #registered = false
  #send: ((message: unknown) => boolean) | undefined
  #lastChange: Promise<unknown> = Promise.resolve()

  /** `onFailure` is called when the connection ends by itself. */
  constructor(tools: ReadonlyMap<string, Tool>, options: ConnectionOptions, onFailure: () => void) {
    this.#tools = tools
    this.#options = options
    let ended = (): void => undefined
    this.#ended = new Promise((resolve) => (ended = resolve))
    this.connected = new Promise((resolve, reject) => {
      this.#keepConnected(resolve).catch((cause: unknown) => {
        const error = cause as Error // only a caller's signal can have another reason
        if (!this.#scope.signal.aborted) {
          this.#scope.abort(error)
          onFailure()
          options.onError(error)
        }
        reject(error)
        ended()
      })
    })
  }

  /** Ends the connection; resolves when its stream is closed. */
  async close(reason: unknown = new ClientToolsError('Disconnected')): Promise<void> {
    this.#scope.abort(reason)
    await this.#ended
  }

  /** Tells the server about changed tools, unless the next stream does so. Changes are sent one after the other. */
  register(): Promise<void> {
    return this.#change(() => this.#sendTools())
  }

  unregister(id: string): Promise<void> {
    const { clientID, http } = this.#options
    const body = { clientID, toolIDs: [`client_${clientID}_${id}`] }
    return this.#change(async () => {
      await http.send(this.#scope, 'DELETE', '/client-tools/unregister', body)
    })
  }

  async #change(send: () => Promise<void>): Promise<void> {
    await this.#inOrder(async () => {
      if (this.#registered) await send()
    })
  }

  #inOrder(change: () => Promise<void>): Promise<void> {
    const result = this.#lastChange.then(change)
    this.#lastChange = result.catch(() => undefined) // whoever asked for the change sees its failure
    return result
  }

  /** Keeps a stream open until the connection ends, which always rejects (CT 11.5). */
  async #keepConnected(onReady: () => void): Promise<never> {
    const { onReconnect, logger } = this.#options
    for (;;) {
      const reason = await this.#stream(onReady)
      this.#scope.signal.throwIfAborted()
      logger.warn('stream lost', { reason })
      if (this.#attempts === maxAttempts) throw new ClientToolsError('Max reconnection attempts reached')
      const waitMs = Math.min(firstWaitMs * 2 ** this.#attempts, maxWaitMs)
      this.#attempts++
      onReconnect(this.#attempts, waitMs)
      await this.#scope.sleep(waitMs)
    }
  }

  /** Registers the tools and opens a stream. Resolves when it is lost; rejects if the server refuses the tools (S57). */
  async #stream(onReady: () => void): Promise<unknown> {
    try {
      await this.#inOrder(async () => {
        await this.#sendTools()
        this.#registered = true
      })
    } catch (error) {
      const status = error instanceof ClientToolsError ? error.status : undefined
      if (status && status >= 400 && status <= 499) throw error
      return error
    }
    const scope = this.#scope.open()
    const reason = await this.#options.openStream(scope, {
      onReady,
      onOpen: (send) => {
        this.#options.logger.debug('stream open')
        send?.({ type: 'register', tools: this.#definitions() })
        this.#send = send
        if (this.#attempts > 0) void this.#checkTools(scope)
        this.#attempts = 0
      },
      onRequest: (request) => void this.#answer(request),
      onError: this.#options.onError,
    })
    this.#registered = false
    this.#send = undefined
    scope.abort(reason)
    return reason
  }

  /** The server may have noticed the end of the last stream late, and removed the new tools with it (S59). */
  async #checkTools(scope: Scope): Promise<void> {
    const { clientID, http, onError } = this.#options
    try {
      await scope.sleep(checkAfterMs)
      const listed = parseJson(await http.send(scope, 'GET', `/client-tools/tools/${encodeURIComponent(clientID)}`))
      if (!Array.isArray(listed)) throw new ClientToolsError('Invalid list of tools')
      if (listed.length < this.#tools.size) await this.register()
    } catch (error) {
      if (!scope.signal.aborted) onError(error)
    }
  }

  #definitions(): Tool['definition'][] {
    return [...this.#tools.values()].map((tool) => tool.definition)
  }

  async #sendTools(): Promise<void> {
    const { clientID } = this.#options
    await this.#post('/client-tools/register', { clientID, tools: this.#definitions() })
  }

  /** Runs the tool of a request, and sends its result (CT 11.4). */
  async #answer(request: ToolRequest): Promise<void> {
    const { onError, logger } = this.#options
    const { requestID } = request
    const result = await this.#runTool(request)
    try {
      const sent = this.#send?.({ type: 'result', requestID, result }) ?? false
      if (!sent) await this.#post('/client-tools/result', { requestID, result })
      logger.debug('result sent', { requestID, status: result.status })
    } catch (error) {
      if (!this.#scope.signal.aborted) onError(error)
    }
  }

  async #runTool(request: ToolRequest): Promise<ToolResponse> {
    const { clientID, timeout } = this.#options
    const prefix = `client_${clientID}_`
    const id = request.tool.startsWith(prefix) ? request.tool.slice(prefix.length) : request.tool
    const tool = this.#tools.get(id)
    if (!tool) return { status: 'error', error: `Unknown tool: ${id}` }
    const scope = this.#scope.open({ limit: { ms: timeout, reason: `The tool did not finish within ${timeout} ms` } })
    try {
      return toolResponse(await tool.run(request.input, this.#contextOf(request, scope.signal)))
    } catch (error) {
      return { status: 'error', error: messageOf(error) }
    } finally {
      scope.end()
    }
  }

  #contextOf({ requestID, sessionID, messageID, callID }: ToolRequest, signal: AbortSignal): ToolContext {
    return {
      sessionID, messageID, callID, signal,
      progress: async (progress, { total, message } = {}) => {
        this.#scope.signal.throwIfAborted()
        const body = { requestID, progress, total, message } // JSON leaves out what is undefined
        const sent = this.#send?.({ type: 'progress', ...body }) ?? false
        if (!sent) await this.#post('/client-tools/progress', body)
      },
      callTool: async (tool, input, options) => {
        // The server ends the call with the execution, however long its user thinks about it.
        const scope = this.#scope.open(options)
        try {
          return readContent(await this.#options.http.read(scope, 'POST', '/client-tools/call', { requestID, tool, input }))
        } finally {
          scope.end()
        }
      },
    }
  }

  async #post(path: string, body: unknown): Promise<void> {
    await this.#options.http.send(this.#scope, 'POST', path, body)
  }
}

/** The content of an answer to `/client-tools/call` (CT 14.3). */
function readContent(text: string): unknown[] {
  const answer = parseJson(text)
  if (isObject(answer)) {
    if (answer.status === 'success' && Array.isArray(answer.content)) return answer.content
    if (answer.status === 'error') throw new ClientToolsError(String(answer.error))
  }
  throw new ClientToolsError('Invalid response to a call')
}
