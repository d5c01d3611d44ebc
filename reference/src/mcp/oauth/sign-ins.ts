import { abortable } from '../../abortable.ts'
import type { Logger } from '../../log.ts'
import type { Environment } from '../../settings/paths.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Authorization } from '../client/authorization.ts'
import { ExtensionError } from '../client/connection.ts'
import { ConnectionToken } from './connection-token.ts'
import { CredentialStore, type SignInTarget } from './credential-store.ts'
import { isDue, type Credentials } from './credentials.ts'
import { discover, type Metadata } from './discovery.ts'
import { refresh } from './refresh.ts'
import { signIn } from './sign-in.ts'
import { SignInError } from './sign-in-error.ts'
import { canonicalUrl } from './url.ts'

const maxSignIns = 16

/** Where a sign-in has led. */
export interface SignedIn {
  credentials: Credentials
  metadata: Metadata
  /** Whether the token was stored before. Then it may be rejected, and the user has to sign in. */
  wasStored: boolean
}

/** A sign-in, and how many requests wait for it. */
interface Running {
  outcome: Promise<SignedIn>
  waiting: number
  over: AbortController
}

interface SignInsDeps {
  settings: Settings
  environment: Environment
  directory: string
  logger: Logger
  print: (line: string) => void
}

/** The sign-ins of the server, one for each name and `uri` of an extension (X48). */
export class SignIns {
  readonly #deps: SignInsDeps
  readonly #store: CredentialStore
  readonly #running = new Map<string, Running>()
  readonly #stop = new AbortController()

  constructor(deps: SignInsDeps) {
    this.#deps = deps
    this.#store = new CredentialStore(deps.settings)
  }

  /** Gets a token: the stored one, or that of a user who signs in. Rejects with an ExtensionError, or with the reason of the signal. */
  async signIn(target: SignInTarget, signal: AbortSignal): Promise<SignedIn> {
    return this.#shared(target, signal, (over) => this.#first(target, over))
  }

  /** Gets another token, because the server has rejected the stored one (X49). */
  async signInAgain(target: SignInTarget, rejected: SignedIn, signal: AbortSignal): Promise<SignedIn> {
    return this.#shared(target, signal, (over) => this.#again(target, rejected, over))
  }

  /** The token for a new connection. */
  authorization(target: SignInTarget, { credentials, metadata }: SignedIn): Authorization {
    const deps = { store: this.#store, logger: this.#deps.logger, stopped: this.#stop.signal }
    return new ConnectionToken(target, { credentials, endpoint: metadata.tokenEndpoint }, deps)
  }

  /** Ends all sign-ins. */
  stop(): void {
    const reason = new ExtensionError('Connection closed')
    this.#stop.abort(reason)
    for (const { over } of this.#running.values()) over.abort(reason)
  }

  async #shared(target: SignInTarget, signal: AbortSignal, start: (signal: AbortSignal) => Promise<SignedIn>): Promise<SignedIn> {
    signal.throwIfAborted()
    this.#stop.signal.throwIfAborted()
    const key = JSON.stringify([target.name, canonicalUrl(target.uri)])
    const running = this.#running.get(key) ?? this.#start(key, target, start)
    running.waiting++
    try {
      return await abortable(signal, (resolve, reject) => {
        running.outcome.then(resolve, reject)
        return () => undefined
      })
    } finally {
      running.waiting--
      if (running.waiting === 0) {
        this.#forget(key, running)
        running.over.abort(new ExtensionError('No request waits for the sign-in'))
      }
    }
  }

  #start(key: string, target: SignInTarget, start: (signal: AbortSignal) => Promise<SignedIn>): Running {
    if (this.#running.size === maxSignIns) throw this.#failed(target, new SignInError('too many sign-ins'))
    const over = new AbortController()
    const running: Running = { outcome: this.#logged(target, start(over.signal)), waiting: 0, over }
    this.#running.set(key, running)
    // A later request starts another one, which finds the stored token.
    running.outcome.catch(() => undefined).finally(() => {
      this.#forget(key, running)
    })
    return running
  }

  #forget(key: string, running: Running): void {
    if (this.#running.get(key) === running) this.#running.delete(key)
  }

  async #logged(target: SignInTarget, outcome: Promise<SignedIn>): Promise<SignedIn> {
    try {
      const signedIn = await outcome
      this.#deps.logger.info('signed in', { extension: target.name })
      return signedIn
    } catch (error) {
      throw this.#failed(target, error)
    }
  }

  /** Logs the end of a sign-in that failed. */
  #failed({ name }: SignInTarget, error: unknown): unknown {
    const why = error instanceof ExtensionError ? error.message : 'Internal error'
    this.#deps.logger.warn('not signed in', { extension: name, why })
    return error
  }

  async #first(target: SignInTarget, signal: AbortSignal): Promise<SignedIn> {
    const before = await this.#store.read(target)
    const metadata = await discover(new URL(target.uri), signal)
    const stored = before && (await this.#store.step(target, () => this.#fromStore(target, metadata, signal)))
    return stored === undefined ? this.#withUser(target, metadata, signal) : { credentials: stored, metadata, wasStored: true }
  }

  /** The stored credentials with a token that can be used now; undefined if there are none. A step of the store. */
  async #fromStore(target: SignInTarget, { tokenEndpoint }: Metadata, signal: AbortSignal): Promise<Credentials | undefined> {
    signal.throwIfAborted()
    const stored = await this.#store.read(target)
    const isElsewhere = stored?.tokenEndpoint !== undefined && canonicalUrl(stored.tokenEndpoint) !== canonicalUrl(tokenEndpoint)
    if (stored === undefined || isElsewhere) return undefined
    if (stored.token.refreshToken !== undefined) {
      // Once it is sent, it goes on without anybody who waits: the old refresh token may be used up.
      const outcome = await refresh({ ...stored, uri: target.uri, tokenEndpoint }, new URL(tokenEndpoint), this.#stop.signal)
      if (outcome.type === 'refreshed') {
        await this.#store.write(target, outcome.credentials)
        return outcome.credentials
      }
      if (outcome.type === 'failed') throw new SignInError('the token cannot be refreshed', outcome.cause)
    } else if (!isDue(stored)) {
      return stored
    }
    await this.#store.remove(target)
    return undefined
  }

  async #again(target: SignInTarget, rejected: SignedIn, signal: AbortSignal): Promise<SignedIn> {
    const { metadata } = rejected
    const newer = await this.#store.step(target, async () => {
      const stored = await this.#store.read(target)
      // Another session may have signed in meanwhile.
      if (stored !== undefined && stored.token.accessToken !== rejected.credentials.token.accessToken && !isDue(stored)) return stored
      await this.#store.remove(target)
      return undefined
    })
    return newer === undefined ? this.#withUser(target, metadata, signal) : { credentials: newer, metadata, wasStored: true }
  }

  async #withUser(target: SignInTarget, metadata: Metadata, signal: AbortSignal): Promise<SignedIn> {
    const { settings, environment, directory, print, logger } = this.#deps
    const browser = { command: settings.variable('GOOSE_OAUTH_BROWSER'), environment, directory, print }
    const credentials = await signIn(target, metadata, { browser, logger }, signal)
    await this.#store.step(target, async () => {
      signal.throwIfAborted()
      await this.#store.write(target, credentials)
    })
    return { credentials, metadata, wasStored: false }
  }
}
