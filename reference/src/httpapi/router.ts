import { Hono, type Context, type MiddlewareHandler } from 'hono'
import { isClientToolsPath } from './path-family.ts'
import { empty } from './response.ts'
import { routePath } from './url-path.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** One operation. */
export interface Route {
  method: Method
  path: string
  handler: (c: Context) => Promise<Response>
}

/** Makes the response to an error that a handler threw. */
export type ErrorHandler = (error: Error, request: Request, path: string) => Response

/**
 * The routes behind `fetch`. The given checks come first, in their order; then an unknown path (404) and a wrong method
 * (405). These two responses have no body (S1, S2). Paths match exactly: no trailing slash, no double slash, one segment
 * per parameter (CT 3.2, GA 2.1). If two paths match, only the first one in the table counts, whatever the method.
 *
 * HEAD runs the handler of GET and then drops the body. Handlers of streams check the method themselves.
 */
export function createRouter(routes: readonly Route[], checks: readonly MiddlewareHandler[], onError: ErrorHandler): Hono {
  const router = new Hono({ getPath: (request) => routePath(request.url) })
  for (const check of checks) router.use(check)
  for (const path of new Set(routes.map((route) => route.path))) {
    const ofPath = routes.filter((route) => route.path === path)
    for (const { method, handler } of ofPath) router.on(method, path, handler)
    router.all(path, () => empty(405, { Allow: allow(path, ofPath.map(({ method }) => method)) }))
  }
  router.notFound(() => empty(404))
  router.onError((error, c) => onError(error, c.req.raw, c.req.path))
  return router
}

/** The methods of a path, in the notation of its family (S26). */
function allow(path: string, methods: readonly Method[]): string {
  const names = inOrder.filter((name) => methods.includes(name === 'HEAD' ? 'GET' : name))
  return names.join(isClientToolsPath(path) ? ', ' : ',')
}

const inOrder = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'] as const
