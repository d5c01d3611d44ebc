import type * as contract from '#contract'
import { directoryOf } from '../../httpapi/directory.ts'
import { MalformedBodyError, ValidationError } from '../../httpapi/errors.ts'
import { Rendered, operation, type Operation } from '../../httpapi/operation.ts'
import { sharedFrames } from '../../httpapi/sse/frame.ts'
import type { EventStream } from '../../httpapi/sse/event-stream.ts'
import { messageFrame } from '../../httpapi/ws/frame.ts'
import { SocketResponse, checkHandshake } from '../../httpapi/ws/handshake.ts'
import { isObject } from '../../wire/json/is-object.ts'
import type { Logger } from '../../log.ts'
import { parseBody, registerTools, unregisterTools, type ClientToolDeps } from './handlers.ts'
import { openPending, type PendingStreamDeps } from './pending-stream.ts'
import { RateLimitedError, tooManyTools } from './registry.ts'
import { progressRequest, registerMessage, submitResultRequest, unregisterMessage } from './requests.ts'
import { validate } from './schema.ts'

export interface ClientSocketDeps extends ClientToolDeps, PendingStreamDeps {
  logger: Logger
}

/** `GET /client-tools/ws/{clientID}`: the WebSocket of a client (CT 7). */
export function openClientSocket(deps: ClientSocketDeps): Operation<contract.OpenClientSocketData, contract.OpenClientSocketErrors> {
  return operation(({ request, path: { clientID } }) => {
    const directory = directoryOf(request, deps.defaultDirectory)
    const checked = checkHandshake(request)
    if (checked instanceof Response) return new Rendered(checked)
    const stream = openPending(deps, { clientID, directory, frameOf })
    const messages = new Messages(deps, { clientID, directory }, stream)
    const handle = (text: Uint8Array): Promise<void> => messages.handle(text)
    return new Rendered(new SocketResponse(checked.key, { stream, handle, keepaliveInterval: deps.keepaliveInterval }))
  })
}

const frameOf = sharedFrames((request: contract.ClientToolExecutionRequest) =>
  messageFrame({ type: 'request', request } satisfies contract.SocketRequest),
)

/** The messages of one client (CT 7). */
class Messages {
  readonly #deps: ClientSocketDeps
  readonly #of: { clientID: string; directory: string }
  readonly #stream: EventStream

  constructor(deps: ClientSocketDeps, of: { clientID: string; directory: string }, stream: EventStream) {
    this.#deps = deps
    this.#of = of
    this.#stream = stream
  }

  /** Handles the text of a message. If that fails, the client gets the reason. */
  async handle(text: Uint8Array): Promise<void> {
    try {
      const message = await parseBody(text)
      if (!isObject(message) || typeof message.type !== 'string') this.#complain('Invalid message')
      else this.#take(message.type, message)
    } catch (error) {
      const reason = reasonOf(error)
      if (reason === undefined) this.#deps.logger.error('message failed', { clientID: this.#of.clientID, err: error })
      this.#complain(reason ?? 'Internal server error')
    }
  }

  #take(type: string, message: Record<string, unknown>): void {
    const { clientID, directory } = this.#of
    switch (type) {
      case 'register': {
        if (Array.isArray(message.tools) && message.tools.length > this.#deps.maxTools) throw tooManyTools()
        const toolIDs = registerTools(this.#deps, directory, { clientID, ...validate(registerMessage, message) })
        this.#stream.send(messageFrame({ type: 'registered', toolIDs } satisfies contract.SocketRegistered))
        break
      }
      case 'unregister':
        unregisterTools(this.#deps, directory, clientID, validate(unregisterMessage, message).toolIDs)
        break
      case 'result':
      case 'client-tool-response': {
        const { requestID, result } = validate(submitResultRequest, message)
        this.#deps.executions.settle(requestID, result, directory)
        break
      }
      case 'progress': {
        const { requestID, ...report } = validate(progressRequest, message)
        this.#deps.executions.report(requestID, report)
        break
      }
    }
  }

  #complain(error: string): void {
    this.#stream.send(messageFrame({ type: 'error', error } satisfies contract.SocketError))
  }
}

/** What the client is told (CT 7.1, S65). Undefined for an unexpected error. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof MalformedBodyError) return 'Invalid JSON'
  if (error instanceof RateLimitedError) return error.message
  if (!(error instanceof ValidationError)) return undefined
  const { path, message } = error.issues[0]
  return path.length === 0 ? message : `${path.join('.')}: ${message}`
}
