import { isObject } from '../../wire/json/is-object.ts'
import { JsonNumber } from '../../wire/json/number.ts'
import { textOf, tokenIn, type OAuthClient, type Token } from './token.ts'
import { canonicalUrl } from './url.ts'

/** What is stored of a sign-in (X49). goosed stores neither the last three nor the secret of the client. */
export interface Credentials {
  client: OAuthClient
  token: Token
  /** When the token came, in seconds since 1970. */
  receivedAt: number | undefined
  uri: string | undefined
  tokenEndpoint: string | undefined
}

/** Stored credentials for an extension; undefined if they are missing, cannot be used, or are those of another server. */
export function credentialsIn(value: unknown, extensionUri: string): Credentials | undefined {
  const { client_id: id, client_secret: secret, token_response: response, token_received_at: at, uri, token_endpoint: endpoint } = isObject(value) ? value : {}
  const token = tokenIn(response)
  if (typeof id !== 'string' || token === undefined) return undefined
  if (uri !== undefined && (typeof uri !== 'string' || canonicalUrl(uri) !== canonicalUrl(extensionUri))) return undefined
  const receivedAt = typeof at === 'number' || at instanceof JsonNumber ? Number(at) : undefined
  return { client: { id, secret: textOf(secret) }, token, receivedAt, uri, tokenEndpoint: textOf(endpoint) }
}

/** Credentials as they are stored. */
export function storedForm({ client, token, receivedAt, uri, tokenEndpoint }: Credentials): Record<string, unknown> {
  const { accessToken, expiresIn, refreshToken, scope } = token
  return {
    client_id: client.id,
    token_response: {
      access_token: accessToken,
      token_type: 'bearer',
      ...(expiresIn !== undefined && { expires_in: expiresIn }),
      ...(refreshToken !== undefined && { refresh_token: refreshToken }),
      ...(scope !== undefined && { scope }),
    },
    ...(client.secret !== undefined && { client_secret: client.secret }),
    ...(receivedAt !== undefined && { token_received_at: receivedAt }),
    ...(uri !== undefined && { uri }),
    ...(tokenEndpoint !== undefined && { token_endpoint: tokenEndpoint }),
  }
}

/** Whether a token has to be renewed: 30 s before its end, but not before half of its time (X57). */
export function isDue({ token: { expiresIn }, receivedAt }: Credentials): boolean {
  if (expiresIn === undefined || receivedAt === undefined) return false
  return Date.now() / 1000 >= receivedAt + expiresIn - Math.min(30, expiresIn / 2)
}

/** The current time, in seconds since 1970. */
export function nowInSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
