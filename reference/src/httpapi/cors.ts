import type { MiddlewareHandler } from 'hono'
import { isClientToolsPath } from './path-family.ts'
import { empty } from './response.ts'

/** The CORS headers of a family of paths: those of every response, and those of OPTIONS. */
interface Family {
  everyAnswer: Record<string, string>
  options: (request: Request) => Response
}

/** CT 3.1. */
const clientTools: Family = {
  everyAnswer: { 'Access-Control-Allow-Origin': '*' },
  options: (request) => {
    const headers: Record<string, string> = {
      'Access-Control-Allow-Methods': 'GET,HEAD,PUT,POST,DELETE,PATCH',
    }
    const asked = request.headers.get('Access-Control-Request-Headers')
    if (asked) {
      headers['Access-Control-Allow-Headers'] = asked
      headers.Vary = 'Access-Control-Request-Headers'
    }
    return empty(204, headers)
  },
}

/** GA 2.3. */
const goose: Family = {
  everyAnswer: {
    'Access-Control-Allow-Origin': '*',
    Vary: 'origin, access-control-request-method, access-control-request-headers',
  },
  options: () =>
    empty(200, { 'Access-Control-Allow-Methods': '*', 'Access-Control-Allow-Headers': '*' }),
}

function familyOf(path: string): Family {
  return isClientToolsPath(path) ? clientTools : goose
}

/** The header fields of every response for a path, which is in the form that the router uses. */
export function everyAnswer(path: string): Record<string, string> {
  return familyOf(path).everyAnswer
}

/** Responds to OPTIONS before path and method are checked (S1), and adds the CORS headers to every other response. */
export const cors: MiddlewareHandler = async (c, next) => {
  const family = familyOf(c.req.path)
  if (c.req.method === 'OPTIONS') c.res = family.options(c.req.raw)
  else await next()
  for (const [name, value] of Object.entries(family.everyAnswer)) c.res.headers.set(name, value)
}
