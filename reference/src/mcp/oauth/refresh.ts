import { nowInSeconds, type Credentials } from './credentials.ts'
import type { CredentialStore, SignInTarget } from './credential-store.ts'
import { requestToken } from './token.ts'
import type { Logger } from '../../log.ts'

/** What came of a refresh. */
export type RefreshOutcome = { type: 'refreshed'; credentials: Credentials } | { type: 'refused' } | { type: 'failed'; cause?: unknown }

/** Refreshes a token, and stores the new one (X56). It is a part of a step of the store. Rejects only if the signal is aborted. */
export async function refresh(
  target: SignInTarget,
  before: Credentials & { tokenEndpoint: string },
  endpoint: URL,
  { store, logger, signal }: { store: CredentialStore; logger: Logger; signal: AbortSignal },
): Promise<RefreshOutcome> {
  const { refreshToken, scope } = before.token
  if (refreshToken === undefined) return { type: 'failed' }
  const fields = { grant_type: 'refresh_token', refresh_token: refreshToken }
  const outcome = await requestToken(endpoint, before.client, fields, signal)
  if (outcome.type !== 'token') return outcome
  const { token } = outcome
  const credentials = {
    ...before,
    token: { ...token, refreshToken: token.refreshToken ?? refreshToken, scope: token.scope ?? scope },
    receivedAt: nowInSeconds(),
    uri: target.uri,
  }
  try {
    await store.write(target, credentials)
  } catch (err) {
    logger.warn('token not stored', { extension: target.name, err })
  }
  return { type: 'refreshed', credentials }
}
