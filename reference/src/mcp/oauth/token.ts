import { isObject } from '../../wire/json/is-object.ts'
import { JsonNumber } from '../../wire/json/number.ts'
import { formEncoded, formOf } from './form.ts'
import { ask, isSuccess, type HttpAnswer } from './http-answer.ts'

/** This program, as the authorization server knows it. */
export interface OAuthClient {
  id: string
  secret: string | undefined
}

export interface Token {
  accessToken: string
  /** In seconds. */
  expiresIn: number | undefined
  refreshToken: string | undefined
  scope: string | undefined
}

/** What came of a request for a token. It is refused if the same request can never succeed. */
export type TokenOutcome = { type: 'token'; token: Token } | { type: 'refused' } | { type: 'failed'; cause: unknown }

/** Asks for a token (X55). Rejects only if the signal is aborted. */
export async function requestToken(
  endpoint: URL,
  { id, secret }: OAuthClient,
  fields: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<TokenOutcome> {
  const headers = {
    'Content-Type': 'application/x-www-form-urlencoded',
    Accept: 'application/json',
    ...(secret !== undefined && { Authorization: `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}` }),
  }
  const body = formOf(secret === undefined ? { ...fields, client_id: id } : fields)
  try {
    return outcomeOf(await ask(endpoint, { method: 'POST', headers, body }, isSuccess, signal))
  } catch (cause) {
    signal.throwIfAborted()
    return { type: 'failed', cause }
  }
}

function outcomeOf({ status, object }: HttpAnswer): TokenOutcome {
  if (status >= 400 && status <= 499 && status !== 408 && status !== 429) return { type: 'refused' }
  const isBearer = typeof object?.token_type === 'string' && object.token_type.toLowerCase() === 'bearer'
  const token = isBearer ? tokenIn(object) : undefined
  return token === undefined ? { type: 'failed', cause: new NoTokenError(status) } : { type: 'token', token }
}

/** A token in an answer, or in stored credentials; undefined if the access token cannot be used. */
export function tokenIn(object: unknown): Token | undefined {
  const { access_token: accessToken, expires_in: expiresIn, refresh_token: refreshToken, scope } = isObject(object) ? object : {}
  // Other characters cannot be in a header field, or could end it.
  if (typeof accessToken !== 'string' || !/^[\x21-\x7e]{1,16384}$/.test(accessToken)) return undefined
  return { accessToken, expiresIn: secondsOf(expiresIn), refreshToken: textOf(refreshToken), scope: textOf(scope) }
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

const decimal = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

function secondsOf(value: unknown): number | undefined {
  const isNumber = typeof value === 'number' || value instanceof JsonNumber || (typeof value === 'string' && decimal.test(value))
  const seconds = isNumber ? Math.trunc(Number(value)) : NaN
  return seconds >= 1 && seconds <= 2_147_483_647 ? seconds : undefined
}

/** The answer to a request for a token has none. */
class NoTokenError extends Error {
  override readonly name = 'NoTokenError'
  /** For logs. */
  readonly code: number

  constructor(status: number) {
    super('the answer has no token')
    this.code = status
  }
}
