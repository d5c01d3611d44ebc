import type { Settings } from '../../settings/settings.ts'
import { Turns } from '../../turns.ts'
import { credentialsIn, storedForm, type Credentials } from './credentials.ts'
import { SignInError } from './sign-in-error.ts'

/** What the credentials of an extension belong to. */
export interface SignInTarget {
  /** As it is configured. */
  name: string
  uri: string
}

/** The stored credentials of extensions, one secret for each name (X49). */
export class CredentialStore {
  readonly #settings: Settings
  /** The steps that use a secret now, or wait for their turn, by its key. */
  readonly #steps = new Map<string, { turns: Turns; count: number }>()

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** Undefined if there are none for this extension. Rejects with a SignInError. */
  async read({ name, uri }: SignInTarget): Promise<Credentials | undefined> {
    try {
      return credentialsIn(await this.#settings.secret(keyOf(name)), uri)
    } catch (error) {
      throw new SignInError('the secrets cannot be read', error)
    }
  }

  /** Rejects with a SignInError. */
  async write({ name }: SignInTarget, credentials: Credentials): Promise<void> {
    try {
      await this.#settings.setSecret(keyOf(name), storedForm(credentials))
    } catch (error) {
      throw new SignInError('the secrets cannot be written', error)
    }
  }

  /** Rejects with a SignInError. */
  async remove({ name }: SignInTarget): Promise<void> {
    try {
      await this.#settings.removeSecret(keyOf(name))
    } catch (error) {
      throw new SignInError('the secrets cannot be written', error)
    }
  }

  /** Runs a step that reads and writes one secret. Other steps with this secret wait (X56). */
  async step<T>({ name }: SignInTarget, run: () => Promise<T>): Promise<T> {
    const steps = this.#steps.get(name) ?? { turns: new Turns(), count: 0 }
    this.#steps.set(name, steps)
    steps.count++
    try {
      return await steps.turns.run(run)
    } finally {
      steps.count--
      if (steps.count === 0) this.#steps.delete(name)
    }
  }
}

function keyOf(name: string): string {
  return `oauth_creds_${name}`
}
