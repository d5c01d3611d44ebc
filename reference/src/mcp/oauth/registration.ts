import { ask, isSuccess } from './http-answer.ts'
import { textOf, type OAuthClient } from './token.ts'

/** Who this program is at servers that do not register it. */
const unregistered: OAuthClient = { id: 'mcp-client', secret: undefined }
/** The most bytes of an ID or a secret. */
const maxBytes = 4096

/** Registers this program at an authorization server, if that is possible (X52). Rejects only if the signal is aborted. */
export async function register(endpoint: URL | undefined, redirectUri: string, signal: AbortSignal): Promise<OAuthClient> {
  if (endpoint === undefined) return unregistered
  const body = JSON.stringify({
    client_name: 'goose',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    response_types: ['code'],
  })
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' }
  try {
    const { object } = await ask(endpoint, { method: 'POST', headers, body }, isSuccess, signal)
    const [id, secret] = [textOf(object?.client_id), textOf(object?.client_secret)]
    const fits = [id, secret].every((text) => Buffer.byteLength(text ?? '') <= maxBytes)
    return id !== undefined && fits ? { id, secret } : unregistered
  } catch {
    signal.throwIfAborted()
    return unregistered
  }
}
