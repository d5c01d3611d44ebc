import { ClientToolsError, messageOf } from './errors.ts'
import { isObject, maxBytes, parseJson } from './json.ts'
import type { Scope } from './scope.ts'
import { chunksOf } from './sse.ts'
import { statusNames } from './status.ts'

type Method = 'GET' | 'POST' | 'DELETE'

/** How long a request may take that the server answers at once. */
export const requestLimit = { ms: 30_000, reason: 'No response within 30 seconds' }

/** Sends requests to one server. */
export class Http {
  readonly baseUrl: string
  /** What every request has. */
  readonly headers: Readonly<Record<string, string>>

  constructor(baseUrl: string, headers: Readonly<Record<string, string>>) {
    const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
    if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash) {
      throw new TypeError(`baseUrl is ${JSON.stringify(baseUrl)}: write an address such as "http://127.0.0.1:3000"`)
    }
    this.baseUrl = baseUrl.replace(/\/+$/, '')
    this.headers = headers
  }

  /** Sends a request that the server answers at once, and returns the text of the response. Fails unless the status is 200. */
  async send(scope: Scope, method: Method, path: string, body?: unknown): Promise<string> {
    const request = scope.open({ limit: requestLimit })
    try {
      return await this.read(request, method, path, body)
    } finally {
      request.end()
    }
  }

  /** The same for a request that may take as long as its scope. */
  async read(scope: Scope, method: Method, path: string, body?: unknown): Promise<string> {
    return readText(await this.open(scope, method, path, body), scope.signal)
  }

  /**
   * Sends a request, and returns the response when its head has arrived. Fails unless the status is 200. The scope must end when
   * the response has been read, or has failed.
   */
  async open(scope: Scope, method: Method, path: string, body?: unknown, accept?: string): Promise<Response> {
    const headers = new Headers(this.headers)
    if (body !== undefined) headers.set('Content-Type', 'application/json')
    if (accept) headers.set('Accept', accept)
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    let response: Response
    try {
      // A redirect could lead to another server, which must not see the key.
      response = await fetch(this.baseUrl + path, { method, headers, signal: scope.signal, redirect: 'error', ...content })
    } catch (error) {
      scope.signal.throwIfAborted()
      const reason = error instanceof Error && error.cause !== undefined ? error.cause : error
      throw new ClientToolsError(`${method} ${path}: ${messageOf(reason)}`, { cause: error })
    }
    if (response.status === 200) return response
    scope.limit(requestLimit.ms, requestLimit.reason)
    const { status } = response
    const text = await readText(response, scope.signal).catch(() => '')
    const message = reportedMessage(text) ?? plainMessage(response, text) ?? statusNames[status]
    throw new ClientToolsError(message === undefined ? String(status) : `${status}: ${message}`, { status })
  }
}

async function readText(response: Response, signal: AbortSignal): Promise<string> {
  const decoder = new TextDecoder()
  let [text, size] = ['', 0]
  for await (const chunk of chunksOf(response.body, signal)) {
    size += chunk.length
    if (size > maxBytes) throw new ClientToolsError('A response is larger than 16 MiB')
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** The message in the body of an error: the first text of the places that S57 names. */
function reportedMessage(text: string): string | undefined {
  const body = parseJson(text)
  if (!isObject(body)) return undefined
  const { error, data, message } = body
  const places = [error, messageIn(error), messageIn(data), message, firstIssue(error)]
  return places.find((place) => typeof place === 'string')
}

/** The beginning of a body that is a plain text (S57). */
function plainMessage(response: Response, text: string): string | undefined {
  if (response.headers.get('Content-Type')?.startsWith('text/plain') !== true) return undefined
  return new TextDecoder().decode(new TextEncoder().encode(text.trim()).subarray(0, 200)) || undefined
}

function messageIn(value: unknown): unknown {
  return isObject(value) ? value.message : undefined
}

/** The first issue of a validation error, after its path if that is not empty (CT 7.1). */
function firstIssue(issues: unknown): string | undefined {
  const issue: unknown = Array.isArray(issues) ? issues[0] : undefined
  if (!isObject(issue) || typeof issue.message !== 'string') return undefined
  const path = Array.isArray(issue.path) ? issue.path : []
  return path.length > 0 ? `${path.join('.')}: ${issue.message}` : issue.message
}
