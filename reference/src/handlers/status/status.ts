import type * as contract from '#contract'
import { Rendered, operation, type Operation } from '../../httpapi/operation.ts'
import { text } from '../../httpapi/response.ts'

const up: contract.GetStatusResponse = 'ok'

/** `GET /status`: the server is running, whatever else fails (GA 5.1). */
export const status: Operation<contract.GetStatusData, contract.GetStatusResponses> = operation(
  () => new Rendered<contract.GetStatusResponse>(text(200, up)),
)
