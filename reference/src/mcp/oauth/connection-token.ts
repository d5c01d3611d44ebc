import type { Logger } from '../../log.ts'
import type { Authorization } from '../client/authorization.ts'
import { redactError } from '../client/redact-error.ts'
import type { CredentialStore, SignInTarget } from './credential-store.ts'
import { isDue, type Credentials } from './credentials.ts'
import { refresh } from './refresh.ts'
import { SignInError } from './sign-in-error.ts'
import { allowedUrl } from './url.ts'

export interface TokenDeps {
  store: CredentialStore
  logger: Logger
  /** Aborted when the server stops. */
  stopped: AbortSignal
}

/** The token of one connection, and how it is renewed (X57). */
export class ConnectionToken implements Authorization {
  readonly #target: SignInTarget
  /** That of the metadata. */
  readonly #endpoint: string
  readonly #deps: TokenDeps
  #credentials: Credentials

  constructor(target: SignInTarget, { credentials, endpoint }: { credentials: Credentials; endpoint: string }, deps: TokenDeps) {
    this.#target = target
    this.#credentials = credentials
    this.#endpoint = endpoint
    this.#deps = deps
  }

  get token(): string {
    return this.#credentials.token.accessToken
  }

  get isDue(): boolean {
    return isDue(this.#credentials)
  }

  async renew(token: string, isRejected: boolean): Promise<boolean> {
    const { store, logger } = this.#deps
    try {
      const problem = await store.step(this.#target, () => this.#renew(token, isRejected))
      if (problem === undefined) return true
      logger.warn('token not renewed', { extension: this.#target.name, ...problem })
    } catch (err) {
      logger.warn('token not renewed', { extension: this.#target.name, err: err instanceof SignInError ? err : redactError(err) })
    }
    return false
  }

  /** Returns the problem if the token cannot be renewed. Rejects with a SignInError if the secrets are the problem. */
  async #renew(token: string, isRejected: boolean): Promise<{ why: string } | undefined> {
    if (token !== this.token) return undefined // another request of this connection has renewed it
    const { store, stopped: signal } = this.#deps
    const stored = await store.read(this.#target)
    if (stored === undefined) return { why: 'no user is signed in' }
    if (stored.token.accessToken !== token && !isDue(stored)) {
      this.#credentials = stored
      return undefined
    }
    if (stored.token.refreshToken === undefined) {
      if (isRejected) await store.remove(this.#target)
      return { why: 'there is no refresh token' }
    }
    const tokenEndpoint = stored.tokenEndpoint ?? this.#endpoint
    const endpoint = allowedUrl(tokenEndpoint, new URL(this.#target.uri))
    if (endpoint === undefined) return { why: 'the stored endpoint is not allowed' }
    const outcome = await refresh({ ...stored, uri: this.#target.uri, tokenEndpoint }, endpoint, signal)
    switch (outcome.type) {
      case 'refreshed':
        this.#credentials = outcome.credentials
        await this.#keep(outcome.credentials)
        return undefined
      case 'refused':
        await store.remove(this.#target)
        return { why: 'the authorization server refused it' }
      case 'failed':
        return { why: 'the authorization server did not answer with a token' }
      default:
        return outcome satisfies never
    }
  }

  /** Stores a new token. It is used even if that fails. */
  async #keep(credentials: Credentials): Promise<void> {
    try {
      await this.#deps.store.write(this.#target, credentials)
    } catch (err) {
      this.#deps.logger.warn('token not stored', { extension: this.#target.name, err })
    }
  }
}
