/** A URL in the form in which two URLs that are the same are equal (X38). */
export function canonicalUrl(text: string): string {
  if (!URL.canParse(text)) return text
  const { origin, pathname, search } = new URL(text)
  return `${origin}${canonicalEscapes(pathname)}${canonicalEscapes(search)}`
}

/** Escapes in upper case, and unreserved characters without them (RFC 3986 §6.2.2). */
function canonicalEscapes(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(parseInt(escape.slice(1), 16))
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase()
  })
}

/**
 * The URL of an endpoint, a document or a server, if the rules allow it (X51). `http` is allowed only if the extension uses it
 * itself.
 */
export function allowedUrl(text: unknown, extension: URL): URL | undefined {
  // WHATWG also accepts blanks, line feeds and backslashes, and `http:///host`.
  if (typeof text !== 'string' || !/^https?:\/\/[^/?@]+([/?]|$)/i.test(text) || !/^[\x21-\x7e]+$/.test(text) || /[\\#]/.test(text)) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === 'https:' || extension.protocol === 'http:' ? url : undefined
}
