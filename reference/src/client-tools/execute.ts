import type { Handler } from 'hono'
import type * as contract from '#contract'
import { directoryOf } from '../events/directory.ts'
import { bodyIsDecoded, readBody } from '../http/body.ts'
import { json } from '../http/respond.ts'
import { executionFailed, executionTimedOut, invalidRequest, toolNotFound } from './error-response.ts'
import type { Execution } from './executions.ts'
import { parseBody } from './handlers.ts'
import type { HandlerParts } from './handlers.ts'
import { readExecuteRequest } from './requests.ts'

export interface ExecuteParts extends HandlerParts {
  /** Milliseconds, for requests that name no time-out. */
  defaultTimeout: number
}

/** `POST /client-tools/execute`: calls a tool and answers with the outcome (CT 4.4). Any content type will do. */
export function execute(parts: ExecuteParts): Handler {
  const { registry, executions, defaultDirectory, defaultTimeout, maxBody } = parts
  return async (c) => {
    const directory = directoryOf(c.req.raw, defaultDirectory)
    const body = await parseBody(await readBody(c.req.raw, maxBody))
    bodyIsDecoded(c.req.raw)
    const { toolID, ...fields } = readExecuteRequest(body, defaultTimeout)
    const clientID = registry.ownerOf(toolID)
    if (clientID === undefined) return toolNotFound()
    // S11. The original servers let the newer execution replace the older one, which then loses its result (CT 8.2).
    if (executions.has(fields.requestID)) return invalidRequest(400, 'Request ID is already pending')
    const execution = executions.start({ clientID, tool: toolID, directory, ...fields })
    return answer(execution, c.req.raw.signal)
  }
}

/** Waits for the outcome. Throws the signal's reason if the caller goes away first: there is nobody to answer. */
async function answer({ outcome, withdraw }: Execution, signal: AbortSignal): Promise<Response> {
  signal.addEventListener('abort', withdraw)
  if (signal.aborted) withdraw()
  const ended = await outcome
  signal.removeEventListener('abort', withdraw)
  switch (ended.type) {
    case 'success':
      return json(200, ended.result satisfies contract.ClientToolResult)
    case 'failure':
      return executionFailed(ended.error)
    case 'timeout':
      return executionTimedOut(ended.error)
    case 'withdrawn':
      throw signal.reason
    default:
      return ended satisfies never
  }
}
