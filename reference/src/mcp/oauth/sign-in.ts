import { createHash, randomBytes } from 'node:crypto'
import { LateError, inTime } from '../../in-time.ts'
import type { Logger } from '../../log.ts'
import { openPage, type BrowserOptions } from './browser.ts'
import { CallbackListener } from './callback-listener.ts'
import { nowInSeconds, type Credentials } from './credentials.ts'
import type { Metadata } from './discovery.ts'
import type { SignInTarget } from './credential-store.ts'
import { formOf } from './form.ts'
import { register } from './registration.ts'
import { SignInError } from './sign-in-error.ts'
import { requestToken } from './token.ts'

/** How long the user may take. */
const userMs = 300_000

export interface SignInDeps {
  browser: BrowserOptions
  logger: Logger
}

/** Has the user sign in (GA 31.3). Stores nothing. Rejects with a SignInError, or with the reason of the signal. */
export async function signIn(target: SignInTarget, metadata: Metadata, deps: SignInDeps, signal: AbortSignal): Promise<Credentials> {
  signal.throwIfAborted()
  const [state, verifier] = [randomText(), randomText()]
  const listener = await CallbackListener.open(state)
  try {
    const { redirectUri } = listener
    const client = await register(metadata.registrationEndpoint, redirectUri, signal)
    const page = {
      response_type: 'code',
      client_id: client.id,
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      redirect_uri: redirectUri,
    }
    const url = `${metadata.authorizationEndpoint}${metadata.authorizationEndpoint.includes('?') ? '&' : '?'}${formOf(page)}`
    const code = await codeOfUser(url, target, listener, deps, signal)
    const fields = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri }
    const outcome = await requestToken(new URL(metadata.tokenEndpoint), client, fields, signal)
    if (outcome.type !== 'token') throw new SignInError('no token for the code', outcome.type === 'failed' ? outcome.cause : undefined)
    return { client, token: outcome.token, receivedAt: nowInSeconds(), uri: target.uri, tokenEndpoint: metadata.tokenEndpoint }
  } finally {
    listener.close()
  }
}

async function codeOfUser(
  url: string,
  { name }: SignInTarget,
  listener: CallbackListener,
  { browser, logger }: SignInDeps,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted()
  logger.info('sign-in waits for the user', { extension: name })
  const forget = openPage(url, browser)
  try {
    return await inTime(userMs, signal, (limited) => listener.code(limited))
  } catch (error) {
    throw error instanceof LateError ? new SignInError('no answer within 300 s') : error
  } finally {
    forget()
  }
}

/** 32 random bytes. */
function randomText(): string {
  return randomBytes(32).toString('base64url')
}
