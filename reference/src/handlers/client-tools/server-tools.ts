import type * as contract from '#contract'
import type { Agents } from '../../engine/agent/agents.ts'
import { serverTools } from '../../engine/agent/server-tools.ts'
import { directoryOf } from '../../httpapi/directory.ts'
import { operation, type Operation, type Result } from '../../httpapi/operation.ts'
import { equals } from '../../httpapi/secret-key.ts'
import { queryValues } from '../../httpapi/url-path.ts'
import type { Logger } from '../../log.ts'
import type { SessionStore } from '../../store/session-store.ts'

interface ServerToolDeps {
  agents: Agents
  store: SessionStore
  secretKey: string
  /** The directory of requests that do not name one. */
  directory: string
  logger: Logger
}

type Responses = contract.ListServerToolsResponses & contract.ListServerToolsErrors

/** `GET /client-tools/server-tools`: the server's own tools that the model of a session is offered (CT 14.1). It needs the key. */
export function listServerTools({ agents, store, secretKey, directory, logger }: ServerToolDeps): Operation<contract.ListServerToolsData, Responses> {
  const isRight = equals(secretKey)
  return operation(async ({ request }): Promise<Result<Responses>> => {
    directoryOf(request, directory) // rejects two directories
    if (!isRight(request.headers.get('X-Secret-Key'))) return { status: 401 }
    const [id = ''] = queryValues(request.url, 'sessionID')
    if (store.find(id) === undefined) return { status: 404, body: { error: 'Unknown session' } }
    const agent = agents.get(id)
    const release = agent.use()
    const tools = await serverTools(agent, logger)
    release()
    return { status: 200, body: tools.map(({ name, description = '', inputSchema }) => ({ id: name, description, parameters: inputSchema })) }
  })
}
