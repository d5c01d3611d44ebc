import type * as contract from '#contract'
import { bodyIsDecoded, readBody } from '../../httpapi/body.ts'
import { directoryOf } from '../../httpapi/directory.ts'
import { operation, type Operation, type Result } from '../../httpapi/operation.ts'
import { internalError, invalidRequest } from './error-response.ts'
import { disconnected, stopping, type Execution } from './executions.ts'
import { denied, rejectedByUser, type Guards } from './guards.ts'
import { parseBody, type ClientToolDeps } from './handlers.ts'
import type { QuestionEnd } from './permission-questions.ts'
import { readExecuteRequest } from './requests.ts'

export interface ExecuteDeps extends ClientToolDeps {
  /** The timeout of requests that do not set one, in milliseconds. */
  defaultTimeout: number
  guards: Guards
}

type ExecuteResponses = contract.ExecuteClientToolResponses & contract.ExecuteClientToolErrors

/** `POST /client-tools/execute`: calls a tool and returns its outcome (CT 4.4). Accepts any content type. */
export function execute(deps: ExecuteDeps): Operation<contract.ExecuteClientToolData, ExecuteResponses> {
  const { registry, executions, defaultDirectory, defaultTimeout, maxBody, guards } = deps
  return operation(async ({ request }): Promise<Result<ExecuteResponses>> => {
    const directory = directoryOf(request, defaultDirectory)
    const body = await parseBody(await readBody(request, maxBody))
    bodyIsDecoded(request)
    const { toolID, ...fields } = readExecuteRequest(body, defaultTimeout)
    const clientID = registry.ownerOf(toolID)
    if (clientID === undefined) return { status: 404, body: { error: { code: 'NOT_FOUND', message: 'Tool not found' } } }
    // S11. In the original server a new execution with the same ID replaces the old one, whose result is then lost (CT 8.2).
    if (executions.has(fields.requestID)) return alreadyPending
    const call = { clientID, tool: toolID, directory, ...fields }
    const rejection = (await guards.reject(call)) ?? endOf(await guards.ask(call, request.signal), request.signal)
    if (rejection !== undefined) return rejection
    // The user may have taken long.
    if (executions.has(fields.requestID)) return alreadyPending
    return guards.count(clientID) ?? outcomeOf(executions.start(call), request.signal)
  })
}

const alreadyPending = invalidRequest(400, 'Request ID is already pending')

/** The response to a call that the user did not allow. */
function endOf(end: QuestionEnd, signal: AbortSignal): Result<ExecuteResponses> | undefined {
  switch (end) {
    case 'once':
    case 'always':
      return undefined
    case 'reject':
      return denied(rejectedByUser)
    case 'client disconnected':
      return internalError(500, disconnected)
    case 'stopped':
      return internalError(500, stopping)
    case 'withdrawn':
      throw signal.reason
    default:
      return end satisfies never
  }
}

/** Waits for the outcome. Throws the signal's reason if the client disconnects first. */
async function outcomeOf({ outcome, withdraw }: Execution, signal: AbortSignal): Promise<Result<ExecuteResponses>> {
  signal.addEventListener('abort', withdraw)
  if (signal.aborted) withdraw()
  const ended = await outcome
  signal.removeEventListener('abort', withdraw)
  switch (ended.type) {
    case 'success':
      return { status: 200, body: ended.result }
    case 'failure':
      return internalError(500, ended.error)
    case 'timeout':
      return { status: 504, body: { error: { code: 'TIMEOUT', message: ended.error } } }
    case 'withdrawn':
      throw signal.reason
    default:
      return ended satisfies never
  }
}
