import { UnauthorizedError, type Authorization } from '../client/authorization.ts'
import type { SignInTarget } from './credential-store.ts'
import type { SignIns } from './sign-ins.ts'

/**
 * Connects to an extension, with a sign-in if its server demands one (X47). If the server rejects a stored token, the user signs in
 * (X49). Rejects with an ExtensionError, or with the reason of the signal.
 */
export async function connectSignedIn<T>(
  target: SignInTarget,
  signIns: SignIns,
  connect: (authorization?: Authorization) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await connect()
  } catch (error) {
    if (!(error instanceof UnauthorizedError) || !error.asksForSignIn) throw error
  }
  const first = await signIns.signIn(target, signal)
  try {
    return await connect(signIns.authorization(target, first))
  } catch (error) {
    if (!(error instanceof UnauthorizedError) || !first.wasStored) throw error
  }
  const second = await signIns.signInAgain(target, first, signal)
  return connect(signIns.authorization(target, second))
}
