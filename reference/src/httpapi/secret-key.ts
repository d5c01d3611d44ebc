import { createHash, timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { isClientToolsPath } from './path-family.ts'
import { empty } from './response.ts'

/**
 * Paths of the goose server that do not require the header: one is used before there is a key, and one takes the key from its
 * query (GA 2.2).
 */
const publicPaths = new Set(['/status', '/mcp-ui-proxy'])

/**
 * Requires the header `X-Secret-Key` on all paths of the goose server, known or not, before any other check of the path (GA 2.2,
 * G8). OPTIONS has already been handled.
 */
export function requireSecretKey(secret: string): MiddlewareHandler {
  const isRight = equals(secret)
  return async (c, next) => {
    if (publicPaths.has(c.req.path) || isClientToolsPath(c.req.path) || isRight(c.req.raw.headers.get('X-Secret-Key'))) return next()
    return empty(401)
  }
}

/** Compares with a secret in constant time. */
export function equals(secret: string): (given: string | null) => boolean {
  const wanted = digest(secret)
  // Only printable ASCII characters can match, whatever the secret is (G8).
  return (given) => given !== null && /^[\x20-\x7e]*$/.test(given) && timingSafeEqual(digest(given), wanted)
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
