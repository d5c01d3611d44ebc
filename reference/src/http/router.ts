import { Hono } from 'hono'
import type { Handler } from 'hono'
import { cors } from './cors.ts'
import { empty } from './respond.ts'
import { routePath } from './target.ts'

export type Method = 'GET' | 'POST' | 'DELETE'

/** One operation. `allow` is what a request with another method is told. */
export interface Route {
  method: Method
  path: string
  handler: Handler
  allow?: string
}

/** Answers an error that a handler threw. */
export type ErrorHandler = (error: Error, request: Request, path: string) => Response

/**
 * The routes behind a `fetch`: OPTIONS is answered first, then an unknown path (404), then a wrong method (405), both
 * without a body (S1, S2). Paths are exact: no trailing slash, no doubled slash, one segment per parameter (CT 3.2).
 *
 * HEAD runs the handler of GET and loses the body on the way out; handlers of streams look at the method themselves.
 */
export function createRouter(routes: readonly Route[], onError: ErrorHandler): Hono {
  const router = new Hono({ getPath: (request) => routePath(request.url) })
  router.use(cors)
  for (const { method, path, handler, allow = allowed(method) } of routes) {
    router.on(method, path, handler)
    router.all(path, () => empty(405, { Allow: allow }))
  }
  router.notFound(() => empty(404))
  router.onError((error, c) => onError(error, c.req.raw, c.req.path))
  return router
}

function allowed(method: Method): string {
  return method === 'GET' ? 'GET, HEAD' : method
}
