import type { Attributes } from '@opentelemetry/api'
import { percent, routePath, urlOfTarget } from '../httpapi/url-path.ts'
import type { RequestHead } from './telemetry.ts'

/** The methods of RFC 9110 and RFC 5789. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH']

/** Whether a request asks for `/status`, which has no span (T14). */
export function asksStatus({ url = '' }: RequestHead): boolean {
  const served = urlOfTarget(url)
  return served !== undefined && routePath(served) === '/status'
}

/** The attributes of a request's span that are known at its beginning (T14), and what its name begins with. */
export function requestAttributes(head: RequestHead): { verb: string; attributes: Attributes } {
  const { method = '', url = '' } = head
  const isKnown = methods.includes(method)
  return {
    verb: isKnown ? method : 'HTTP',
    attributes: {
      'http.request.method': isKnown ? method : '_OTHER',
      ...(!isKnown && { 'http.request.method_original': method }),
      'url.path': sentPath(url),
      'url.scheme': 'http',
      ...hostAttributes(fieldOf(head, 'host') ?? ''),
    },
  }
}

/** The path as it was sent, without the query. */
function sentPath(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
  return path.replace(/[^\x21-\x7e]/g, (byte) => percent(byte.charCodeAt(0))) || '/'
}

/** An IPv6 address is without its brackets. */
function hostAttributes(host: string): Attributes {
  const [, bracketed, name = bracketed ?? '', port] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d*))?$/.exec(host) ?? []
  return { ...(name !== '' && { 'server.address': name }), ...(port && Number(port) <= 65_535 && { 'server.port': Number(port) }) }
}

/** The value of a header field; undefined if there is none, or more than one. */
export function fieldOf({ rawHeaders }: RequestHead, name: string): string | undefined {
  const values = rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name)
  return values.length === 1 ? values[0] : undefined
}
