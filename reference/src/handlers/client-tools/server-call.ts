import type * as contract from '#contract'
import { abortable } from '../../abortable.ts'
import type { Result as ToolResult } from '../../domain/message/result.ts'
import type { ToolContent } from '../../domain/message/tool-content.ts'
import { serverTools } from '../../engine/agent/server-tools.ts'
import { runComposedCall } from '../../engine/turn/composed-call.ts'
import type { ReplyServices } from '../../engine/turn/reply-services.ts'
import { bodyIsDecoded } from '../../httpapi/body.ts'
import { operation, type Operation, type Result } from '../../httpapi/operation.ts'
import { equals } from '../../httpapi/secret-key.ts'
import { SessionDeletedError } from '../../store/session-handle.ts'
import { parseExactBody } from '../../wire/json/body-text.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import { ExecutionEndedError, type Executions, type RunningExecution } from './executions.ts'
import { readRequest } from './handlers.ts'
import { callRequest } from './requests.ts'
import { validate } from './schema.ts'

export interface ServerCallDeps extends ReplyServices {
  executions: Executions
  secretKey: string
  /** The directory of requests that do not name one. */
  directory: string
  maxBody: number
}

type Responses = contract.CallServerToolResponses & contract.CallServerToolErrors

/** `POST /client-tools/call`: the client of a pending execution calls a tool of the server in its session (CT 14.3, S80). */
export function callServerTool(deps: ServerCallDeps): Operation<contract.CallServerToolData, Responses> {
  const { executions, store, secretKey, directory, maxBody } = deps
  const isRight = equals(secretKey)
  return operation(async ({ request }): Promise<Result<Responses>> => {
    const { body, bytes } = await readRequest(request, { defaultDirectory: directory, maxBody })
    const { requestID, tool } = validate(callRequest, body)
    if (!isRight(request.headers.get('X-Secret-Key'))) return { status: 401 }
    const { input = {} } = (await parseExactBody(bytes)) as { input?: JsonObject } // it has been validated
    bodyIsDecoded(request)
    const execution = executions.running(requestID)
    if (execution === undefined || store.find(execution.sessionID) === undefined) return unknown('Unknown request ID')
    const signal = AbortSignal.any([request.signal, execution.ended])
    const agent = deps.agents.get(execution.sessionID)
    const release = agent.use()
    try {
      return await call({ tool, input, agent }, execution, deps, signal)
    } catch (error) {
      if (!(error instanceof ExecutionEndedError || error instanceof SessionDeletedError)) throw error
      return { status: 200, body: { status: 'error', error: hasEnded } }
    } finally {
      release()
    }
  })
}

const hasEnded = 'The execution has ended'

/** Looks up the tool, counts the call, and runs it. Rejects if the signal is aborted. */
async function call(
  { tool, input, agent }: { tool: string; input: JsonObject; agent: ReturnType<ReplyServices['agents']['get']> },
  { callID, reply, countCall }: RunningExecution,
  deps: ServerCallDeps,
  signal: AbortSignal,
): Promise<Result<Responses>> {
  const tools = await within(signal, serverTools(agent, deps.logger))
  const isFrontend = agent.extensions.frontendTools().some(({ name }) => name === tool)
  if (isFrontend || !tools.some(({ name }) => name === tool)) return unknown('Unknown tool')
  const number = countCall()
  if (number === undefined) return { status: 429, body: { error: { code: 'RATE_LIMITED', message: 'Too many calls' } } }
  const composed = { id: `${callID}.${number}`, name: tool, input, agent, tools, reply }
  return { status: 200, body: answer(await runComposedCall(composed, deps, signal)) }
}

/** Waits for a promise that cannot be cancelled. */
function within<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return abortable(signal, (resolve, reject) => {
    promise.then(resolve, reject)
    return () => undefined
  })
}

function answer(result: ToolResult<ToolContent[]>): contract.CallResult {
  return result.status === 'success' ? { status: 'success', content: result.value } : result
}

function unknown(error: contract.UnknownCallError['error']): { status: 404; body: contract.UnknownCallError } {
  return { status: 404, body: { error } }
}
