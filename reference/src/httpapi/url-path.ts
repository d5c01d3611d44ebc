/**
 * What a request asks for: from the bytes of the request target to the path that is routed.
 *
 * CT 3.3 describes what a WHATWG URL does to a path, because the original server routed on one: `.` and `..` segments,
 * raw or percent-encoded, are resolved, a backslash is a slash, and everything else stays as it was sent. So a target
 * becomes a URL first, and a segment is decoded once, after the path has been split.
 */

const origin = 'http://localhost'

/**
 * The URL of a request target as node:http hands it over: one character per byte, in origin form, absolute form or
 * `*`. Undefined when it is none of these.
 */
export function urlOfTarget(target: string): string | undefined {
  if (target === '*') return `${origin}/*`
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  // The absolute form may leave the path out; the origin form may not (RFC 9112 §3.2).
  if (!path.startsWith('/') && path === target) return undefined
  return new URL(origin + escapeBytes(path)).href
}

/** Percent-encodes every byte that is not printable ASCII, so that a raw byte and its escape are the same request. */
function escapeBytes(target: string): string {
  return target.replace(/[^\x21-\x7e]/g, (byte) => percent(byte.charCodeAt(0)))
}

/** `%` and the byte in upper-case hexadecimal. */
export function percent(byte: number): string {
  return '%' + byte.toString(16).toUpperCase().padStart(2, '0')
}

/**
 * The path of a URL in the one form that the router sees: each segment decoded once and encoded again. A slash inside a
 * segment stays encoded, so it never splits one, and whatever the router decodes is exactly the ID that was meant.
 */
export function routePath(url: string): string {
  return new URL(url).pathname
    .split('/')
    .map((segment) => encodeURIComponent(decodeOnce(segment)))
    .join('/')
}

/**
 * Every value of a query parameter, decoded; `+` is a blank here (CT 3.3 makes it a plus in paths only).
 */
export function queryValues(url: string, name: string): string[] {
  const values: string[] = []
  for (const pair of new URL(url).search.slice(1).split('&')) {
    const equals = pair.indexOf('=')
    const key = equals === -1 ? pair : pair.slice(0, equals)
    const value = equals === -1 ? '' : pair.slice(equals + 1)
    if (decodeForm(key) === name) values.push(decodeForm(value))
  }
  return values
}

function decodeForm(text: string): string {
  return decodeOnce(text.replaceAll('+', ' '))
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Percent-decodes a text once as UTF-8. Sequences that are not hexadecimal or not UTF-8 stay as they are, while the
 * valid ones beside them are decoded (CT 3.3): `a%2Fb%FF` is `a/b%FF`.
 */
export function decodeOnce(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, decodeRun)
}

function decodeRun(run: string): string {
  const bytes = Uint8Array.from(run.matchAll(/[0-9a-f]{2}/gi), ([hex]) => parseInt(hex, 16))
  let text = ''
  for (let i = 0; i < bytes.length; ) {
    const length = sequenceLength(bytes[i])
    const character = length === 0 ? undefined : decodeUtf8(bytes.subarray(i, i + length))
    text += character ?? run.slice(3 * i, 3 * i + 3)
    i += character === undefined ? 1 : length
  }
  return text
}

/** How many bytes a UTF-8 sequence has that begins with this byte; 0 for a byte that only continues one. */
function sequenceLength(lead = 0): 0 | 1 | 2 | 3 | 4 {
  if (lead < 0x80) return 1
  if (lead < 0xc0) return 0
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
