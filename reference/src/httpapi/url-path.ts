/**
 * From the bytes of a request target to the path that is routed.
 *
 * CT 3.3 describes how a WHATWG URL changes a path, because the original server routes by one. Segments `.` and `..`, raw or
 * percent-encoded, are resolved; a backslash is a slash; everything else stays unchanged. So a target first becomes a URL. Then
 * the path is split, and each segment is decoded once.
 */

const origin = 'http://localhost'

/**
 * The URL of a request target in the form in which node:http provides it: one character per byte, in origin form, absolute form
 * or `*`. Undefined for any other target.
 */
export function urlOfTarget(target: string): string | undefined {
  if (target === '*') return `${origin}/*`
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  // The absolute form may omit the path; the origin form may not (RFC 9112 §3.2).
  if (!path.startsWith('/') && path === target) return undefined
  return new URL(origin + escapeBytes(path)).href
}

/** Percent-encodes every byte that is not printable ASCII, so that a raw byte and its escape mean the same request. */
function escapeBytes(target: string): string {
  return target.replace(/[^\x21-\x7e]/g, (byte) => percent(byte.charCodeAt(0)))
}

/** `%` and the byte in upper-case hexadecimal. */
export function percent(byte: number): string {
  return '%' + byte.toString(16).toUpperCase().padStart(2, '0')
}

/**
 * The path of a URL in the form that the router uses: each segment is decoded once and encoded again. A slash inside a segment
 * stays encoded, so it never splits the segment. The router therefore decodes exactly the intended ID.
 */
export function routePath(url: string): string {
  return new URL(url).pathname
    .split('/')
    .map((segment) => encodeURIComponent(decodeOnce(segment)))
    .join('/')
}

/** All values of a query parameter, decoded. Here `+` is a blank; in paths it is a plus (CT 3.3). */
export function queryValues(url: string, name: string): string[] {
  const pairs = new URL(url).search.slice(1).split('&').map((pair) => pair.split('='))
  return pairs.flatMap(([key = '', ...value]) => (decodeForm(key) === name ? [decodeForm(value.join('='))] : []))
}

function decodeForm(text: string): string {
  return decodeOnce(text.replaceAll('+', ' '))
}

/**
 * Percent-decodes a text once, as UTF-8. Escapes that are not hexadecimal, or not UTF-8, stay unchanged, while valid escapes next
 * to them are decoded (CT 3.3): `a%2Fb%FF` becomes `a/b%FF`.
 */
export function decodeOnce(text: string): string {
  return text.replace(escapedCharacter, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes // for example a surrogate, or more bytes than its character needs
    }
  })
}

/** The escapes of one character: an ASCII byte, or a first byte with as many others as it announces. */
const escapedCharacter =
  /%[0-7][0-9a-f]|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}|%f[0-9a-f](?:%[89ab][0-9a-f]){3}/gi
