/** Why a provider cannot be built (M2). */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
}

/** Joins a host and a path, such as `https://host/` and `/v1/chat/completions`, with exactly one slash between them. */
export function joinUrl(host: string, path: string, given = host): URL {
  return httpUrl(`${host.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`, given)
}

/** A URL on the host of Ollama, which may lack the scheme or the port (M5). */
export function ollamaUrl(host: string, path: string): URL {
  const url = joinUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(host) ? host : `http://${host}`, path, host)
  const hasPort = /^[^/]*\/\/[^/?#]*:\d+(?:[/?#]|$)/.test(host) || /^[^/?#]*:\d+(?:[/?#]|$)/.test(host)
  if (url.protocol === 'http:' && !hasPort) url.port = '11434'
  return url
}

/** The URL of a definition: its scheme, host, port and path. Without a path, that of chat completions is used (GA 18.8). */
export function chatUrl(base: string): URL {
  const { origin, pathname } = httpUrl(base, base)
  return new URL(pathname === '/' ? '/v1/chat/completions' : pathname, origin)
}

/** The path of the list of models, which belongs to a path of chat completions (G59). */
export function listPath(path: string): string {
  return path.replaceAll('v1/chat/completions', 'v1/models')
}

/** A text in which all bytes but the unreserved ones of RFC 3986 are percent-encoded (M73). */
export function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Parses a URL. Throws a ProviderError that quotes the text. */
function httpUrl(text: string, given: string): URL {
  const url = URL.canParse(text) && /^https?:\/\/[^/]/i.test(text) ? new URL(text) : undefined
  if (url === undefined || url.hostname === '') throw new ProviderError(`Invalid base URL: ${given}`)
  return url
}
