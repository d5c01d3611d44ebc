import { JsonDocument, parseJsonDocument } from '../wire/json/document.ts'
import { ModelError, type Failure } from './model.ts'
import { member } from './model-protocol.ts'

/** The error for a response whose status is not 2xx (GA 18.9). */
export function errorOfResponse(status: number, bytes: Uint8Array): ModelError {
  const { message, code } = complaint(Buffer.from(bytes).toString())
  const isContext = status === 413 || (status === 400 && isAboutContext(message, code))
  return quoting(isContext ? 'Context length exceeded: ' : beginningOf(status), message, `status ${status}`, isContext)
}

function beginningOf(status: number): string {
  if (status === 401 || status === 403) {
    return `Authentication error: Authentication failed. Status: ${statusWithName(status)}. Response: `
  }
  if (status === 400) return 'Request failed: Bad request (400): '
  if (status === 404) return 'Request failed: Resource not found (404): '
  if (status === 429) return 'Rate limit exceeded: '
  if (status >= 500) return `Server error: Server error (${statusWithName(status)}): `
  return `Request failed: Request failed with status ${statusWithName(status)}: `
}

/** An error that quotes the model's server. The log has `instead`, because the text may contain the key of the request (G59). */
function quoting(beginning: string, text: string, instead: string, contextExceeded?: boolean): ModelError {
  const error = new ModelError(`${beginning}${text}`, contextExceeded)
  error.stack = (error.stack ?? error.message).replace(error.message, () => `${beginning}${instead}`)
  return error
}

/** The failure of a response whose status is not 2xx. */
export function failureOf(status: number, bytes: Uint8Array): Failure {
  return { error: errorOfResponse(status, bytes), isTransient: isTransient(status) }
}

/** The failure inside an answer whose status is 2xx (M76); undefined if there is none. */
export function failureInside(bytes: Uint8Array): Failure | undefined {
  const error = member(jsonIn(bytes), 'error')
  if (error === undefined || error === null) return undefined
  const given = member(error, 'code')
  const code = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given
  if (typeof code === 'number' && Number.isInteger(code) && code >= 400 && code <= 599) return failureOf(code, bytes)
  return { error: quoting('Request failed: ', complaint(Buffer.from(bytes).toString()).message, 'an error in an answer'), isTransient: false }
}

/** The value of a JSON text; undefined if it is not JSON. */
export function jsonIn(bytes: Uint8Array): unknown {
  try {
    return parseJsonDocument(bytes).value
  } catch {
    return undefined
  }
}

/** Whether the same request may succeed a little later. */
function isTransient(status: number): boolean {
  return status === 429 || status >= 500
}

function complaint(body: string): { message: string; code: unknown } {
  let answer: unknown
  try {
    answer = new JsonDocument(body).value
  } catch {
    return { message: body, code: undefined }
  }
  const error = member(answer, 'error')
  const message = [member(error, 'message'), member(answer, 'message')].find((text) => typeof text === 'string')
  return { message: message ?? body, code: member(error, 'code') }
}

function isAboutContext(message: string, code: unknown): boolean {
  return code === 'context_length_exceeded' || contextWords.test(message)
}

/** Words in an error message that mean that the context is exceeded (M29). */
const contextWords =
  /context|too long|prompt length|input length|reduce the length|too many tokens|token limit|token count/i

/** A status with its name in RFC 9110, if it has one: `401 Unauthorized`. */
export function statusWithName(status: number): string {
  const name = statusNames.get(status)
  return name === undefined ? String(status) : `${status} ${name}`
}

/** The names of statuses in RFC 9110 §15. Node has more names, and some of them are older. */
const statusNames = new Map([
  [100, 'Continue'], [101, 'Switching Protocols'],
  [200, 'OK'], [201, 'Created'], [202, 'Accepted'], [203, 'Non-Authoritative Information'], [204, 'No Content'],
  [205, 'Reset Content'], [206, 'Partial Content'],
  [300, 'Multiple Choices'], [301, 'Moved Permanently'], [302, 'Found'], [303, 'See Other'], [304, 'Not Modified'],
  [305, 'Use Proxy'], [307, 'Temporary Redirect'], [308, 'Permanent Redirect'],
  [400, 'Bad Request'], [401, 'Unauthorized'], [402, 'Payment Required'], [403, 'Forbidden'], [404, 'Not Found'],
  [405, 'Method Not Allowed'], [406, 'Not Acceptable'], [407, 'Proxy Authentication Required'], [408, 'Request Timeout'],
  [409, 'Conflict'], [410, 'Gone'], [411, 'Length Required'], [412, 'Precondition Failed'], [413, 'Content Too Large'],
  [414, 'URI Too Long'], [415, 'Unsupported Media Type'], [416, 'Range Not Satisfiable'], [417, 'Expectation Failed'],
  [421, 'Misdirected Request'], [422, 'Unprocessable Content'], [426, 'Upgrade Required'],
  [500, 'Internal Server Error'], [501, 'Not Implemented'], [502, 'Bad Gateway'], [503, 'Service Unavailable'],
  [504, 'Gateway Timeout'], [505, 'HTTP Version Not Supported'],
])
