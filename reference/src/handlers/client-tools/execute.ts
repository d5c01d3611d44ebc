import type * as contract from '#contract'
import type { HookedCall, Hooks } from '../../engine/hooks/hooks.ts'
import { bodyIsDecoded, readBody } from '../../httpapi/body.ts'
import { directoryOf } from '../../httpapi/directory.ts'
import { operation, type Operation, type Result } from '../../httpapi/operation.ts'
import { parseText } from '../../wire/json/parse.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { internalError, invalidRequest } from './error-response.ts'
import { disconnected, stopping, type Execution, type Outcome } from './executions.ts'
import { denied, rejectedByUser, type Guards } from './guards.ts'
import { parseBody, type ClientToolDeps } from './handlers.ts'
import type { QuestionEnd } from './permission-questions.ts'
import { readExecuteRequest } from './requests.ts'

export interface ExecuteDeps extends ClientToolDeps {
  /** The timeout of requests that do not set one, in milliseconds. */
  defaultTimeout: number
  guards: Guards
  hooks: Hooks
}

type ExecuteResponses = contract.ExecuteClientToolResponses & contract.ExecuteClientToolErrors

/** `POST /client-tools/execute`: calls a tool and returns its outcome (CT 4.4). Accepts any content type. */
export function execute(deps: ExecuteDeps): Operation<contract.ExecuteClientToolData, ExecuteResponses> {
  const { registry, executions, defaultDirectory, defaultTimeout, maxBody, guards, hooks } = deps
  return operation(async ({ request }): Promise<Result<ExecuteResponses>> => {
    const directory = directoryOf(request, defaultDirectory)
    const body = await parseBody(await readBody(request, maxBody))
    bodyIsDecoded(request)
    const { toolID, ...fields } = readExecuteRequest(body, defaultTimeout)
    const clientID = registry.ownerOf(toolID)
    if (clientID === undefined) return notFound
    // S11. In the original server a new execution with the same ID replaces the old one, whose result is then lost (CT 8.2).
    if (executions.has(fields.requestID)) return alreadyPending
    const hooked = { tool: toolID, input: fields.input, sessionID: fields.sessionID, callID: fields.callID, clientID }
    const { input, refusal } = await hooks.before(hooked, request.signal)
    if (refusal !== undefined) return refusal.isStopping ? internalError(500, refusal.reason) : denied(refusal.reason)
    if (input !== undefined) hooked.input = parseText(stringifyJson(input)) as JsonObject // with doubles, like the body
    if (!registry.has(clientID, toolID)) return notFound
    const call = { clientID, tool: toolID, directory, ...fields, input: hooked.input }
    const rejection = (await guards.reject(call)) ?? endOf(await guards.ask(call, request.signal), request.signal)
    if (rejection !== undefined) return rejection
    // The user may have taken long.
    if (!registry.has(clientID, toolID)) return notFound
    if (executions.has(fields.requestID)) return alreadyPending
    const uncounted = guards.count(clientID)
    if (uncounted !== undefined) return uncounted
    const ended = await endOfExecution(executions.start(call), request.signal)
    return responseTo(await afterHooks(hooks, hooked, ended, request.signal))
  })
}

const notFound = { status: 404, body: { error: { code: 'NOT_FOUND', message: 'Tool not found' } } } as const
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

type Ended = Exclude<Outcome, { type: 'withdrawn' }>

/** Waits for the outcome. Throws the signal's reason if the client disconnects first. */
async function endOfExecution({ outcome, withdraw }: Execution, signal: AbortSignal): Promise<Ended> {
  signal.addEventListener('abort', withdraw)
  if (signal.aborted) withdraw()
  const ended = await outcome
  signal.removeEventListener('abort', withdraw)
  if (ended.type === 'withdrawn') throw signal.reason
  return ended
}

/** The outcome with the text that the hooks leave (S86). */
async function afterHooks(hooks: Hooks, call: HookedCall, ended: Ended, signal: AbortSignal): Promise<Ended> {
  if (ended.type !== 'success') {
    return { ...ended, error: (await hooks.after(call, { status: 'error', text: ended.error }, signal)) ?? ended.error }
  }
  const { output } = ended.result
  return { ...ended, result: { ...ended.result, output: (await hooks.after(call, { status: 'success', text: output }, signal)) ?? output } }
}

function responseTo(ended: Ended): Result<ExecuteResponses> {
  switch (ended.type) {
    case 'success':
      return { status: 200, body: ended.result }
    case 'failure':
      return internalError(500, ended.error)
    case 'timeout':
      return { status: 504, body: { error: { code: 'TIMEOUT', message: ended.error } } }
    default:
      return ended satisfies never
  }
}
