import { nowInSeconds, type Credentials } from './credentials.ts'
import { requestToken } from './token.ts'

/** What came of a refresh. */
export type RefreshOutcome = { type: 'refreshed'; credentials: Credentials } | { type: 'refused' } | { type: 'failed'; cause?: unknown }

/** Credentials that can be stored: they say where they belong. */
type Placed = Credentials & { uri: string; tokenEndpoint: string }

/**
 * Refreshes a token (X56). It is a part of a step of the store, and its caller stores the result. Rejects only if the signal is
 * aborted: that may lose the credentials, because many servers accept a refresh token only once.
 */
export async function refresh(before: Placed, endpoint: URL, signal: AbortSignal): Promise<RefreshOutcome> {
  const { refreshToken, scope } = before.token
  if (refreshToken === undefined) return { type: 'failed' }
  const outcome = await requestToken(endpoint, before.client, { grant_type: 'refresh_token', refresh_token: refreshToken }, signal)
  if (outcome.type !== 'token') return outcome
  const token = { ...outcome.token, refreshToken: outcome.token.refreshToken ?? refreshToken, scope: outcome.token.scope ?? scope }
  return { type: 'refreshed', credentials: { ...before, token, receivedAt: nowInSeconds() } }
}
