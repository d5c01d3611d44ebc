import { isIP, isIPv4 } from 'node:net'
import type { MiddlewareHandler } from 'hono'
import type { RefusedError } from '#contract'
import { isClientToolsPath } from './path-family.ts'
import { json } from './response.ts'

export interface AllowedOrigins {
  /** `*`, or origins as browsers send them. Those of this machine are always allowed. */
  allowedOrigins: readonly string[]
  /** The name of this machine, in addition to its loopback names. */
  hostName?: string | undefined
}

/**
 * Keeps pages of other origins from the client tools, which need no key (CT 15.1). The host is checked too, because a page can
 * point its own name at this machine (CT 15.2). These checks come before all others, OPTIONS included (S71).
 */
export function requireAllowedOrigin({ allowedOrigins, hostName }: AllowedOrigins): MiddlewareHandler {
  const listed = new Set(allowedOrigins)
  const ownName = hostName === undefined ? undefined : nameOf(hostName)
  return async (c, next) => {
    if (listed.has('*') || !isClientToolsPath(c.req.path)) return next()
    const { headers } = c.req.raw
    const [origin, host] = [headers.get('Origin'), headers.get('Host')]
    const isAllowed = origin === null ? !isOtherSite(headers.get('Sec-Fetch-Site') ?? 'none') : isLoopbackOrigin(origin) || listed.has(origin)
    if (!isAllowed) return refused('Origin not allowed')
    if (!isOwnHost(nameOf(host ?? ''), ownName)) return refused('Host not allowed')
    return next()
  }
}

/**
 * Whether a `Sec-Fetch-Site` says that a page of another site asks. Browsers send it without an `Origin` if the page asks for a
 * resource without CORS (S88).
 */
export function isOtherSite(site: string): boolean {
  return site !== 'same-origin' && site !== 'none'
}

function refused(message: RefusedError['error']['message']): Response {
  return json(403, { error: { code: 'PERMISSION_DENIED', message } } satisfies RefusedError)
}

/** An origin of a page that this machine serves (CT 15.1), in the form in which browsers send it. */
function isLoopbackOrigin(origin: string): boolean {
  const [, host = '', port = '0'] = /^https?:\/\/(\[::1\]|[a-z0-9.]+)(?::([1-9]\d{0,4}))?$/.exec(origin) ?? []
  return Number(port) <= 65_535 && (host === 'localhost' || host === '[::1]' || (host.startsWith('127.') && isIPv4(host)))
}

/** The name in a `Host`, without port, final dot and capitals. */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
}

function isOwnHost(name: string, ownName: string | undefined): boolean {
  const address = /^\[(.*)\]$/.exec(name)?.[1]
  if (address !== undefined) return isIP(address) === 6 && !address.includes('%')
  return isIPv4(name) || name === 'localhost' || name.endsWith('.localhost') || name === ownName
}

/** Whether an entry of the list is `*` or an origin as browsers send it (S70). */
export function isOriginEntry(entry: string): boolean {
  if (entry === '*') return true
  const [, scheme = ''] = /^([a-z][a-z0-9+.-]*):\/\/[^\s/?#@,\\]+$/.exec(entry) ?? []
  if (scheme === '' || !URL.canParse(entry)) return false
  const { origin, host } = new URL(entry)
  return origin === 'null' ? entry === `${scheme}://${host}` : entry === origin
}

/** Whether a text can be the name of a machine: labels with dots, without a port. */
export function isHostName(text: string): boolean {
  return text.length <= 253 && /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.?$/i.test(text)
}
