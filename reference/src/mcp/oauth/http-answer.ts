import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { inTime } from '../../in-time.ts'
import { bytesUpTo, sendRequest } from '../../send-request.ts'
import { parseJsonDocument } from '../../wire/json/document.ts'
import { isObject } from '../../wire/json/is-object.ts'

/** How long each request may take, up to the last byte of its answer, and the most bytes of that. */
export const requestMs = 30_000
const maxAnswerBytes = 1024 * 1024

export interface Request {
  method: 'GET' | 'POST'
  headers: Readonly<Record<string, string>>
  body: string | null
}

export interface HttpAnswer {
  status: number
  headers: IncomingHttpHeaders
  /** The JSON object in the body; undefined if there is none, or it is not wanted. */
  object: Readonly<Record<string, unknown>> | undefined
}

/**
 * Sends a request, and reads the answer if `wants` accepts its status. Follows no redirect. Rejects if there is no answer in time,
 * or the signal is aborted.
 */
export function ask(url: URL, request: Request, wants: (status: number) => boolean, signal: AbortSignal): Promise<HttpAnswer> {
  return inTime(requestMs, signal, async (signal) => {
    // Answers are read as they are: a compressed one could be much larger than it looks.
    const headers = { 'Accept-Encoding': 'identity', ...request.headers }
    const message = await sendRequest(url, { ...request, headers, signal })
    const { statusCode: status = 0, headers: answered } = message
    try {
      return { status, headers: answered, object: wants(status) && !isStream(answered) ? await objectIn(message) : undefined }
    } finally {
      message.destroy()
    }
  })
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299
}

function isStream(headers: IncomingHttpHeaders): boolean {
  return /^\s*text\/event-stream\s*(?:;|$)/i.test(headers['content-type'] ?? '')
}

async function objectIn(message: IncomingMessage): Promise<Record<string, unknown> | undefined> {
  const bytes = await bytesUpTo(maxAnswerBytes, message)
  if (bytes === undefined) return undefined
  if (!message.complete) throw new Error('the connection ended within the answer')
  try {
    const { value } = parseJsonDocument(bytes)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
