import type { Handler } from 'hono'
import type { GetStatusResponse } from '#contract'
import { text } from '../http/respond.ts'

const up: GetStatusResponse = 'ok'

/** `GET /status`: the server is up, whatever else is the matter (GA 5.1). */
export const status: Handler = () => text(200, up)
