import type { Message } from '../domain/message/message.ts'
import type { ListedSession, LoadedSession } from '../domain/session/session.ts'
import type { RowChange } from './changes.ts'

/** The reason with which all work for a deleted session ends (G29). */
export class SessionDeletedError extends Error {
  override readonly name = 'SessionDeletedError'
}

/** The store of a session, as far as its users need it. */
interface Store {
  find: (id: string) => ListedSession | undefined
  load: (id: string) => Promise<LoadedSession | undefined>
  update: (id: string, change: RowChange) => boolean
  addMessages: (id: string, messages: readonly Message[]) => Promise<boolean>
  replaceMessages: (id: string, change: (stored: Message[]) => Message[]) => Promise<boolean>
}

/**

 * A session for its users. A handle of a deleted session stays without one, even when a new session gets the number (G30). So does
 * the handle of a number that had no session when the handle was made.
 */
export class SessionHandle {
  readonly id: string
  readonly #store: Store
  readonly #latest: () => ListedSession | undefined
  readonly #over = new AbortController()
  #exists: boolean

  /** For the store. `latest` returns the session as it is, or as it was when it was deleted. */
  constructor(id: string, store: Store, latest?: () => ListedSession) {
    this.id = id
    this.#store = store
    this.#latest = latest ?? (() => undefined)
    this.#exists = latest !== undefined
  }

  /** Aborted with a SessionDeletedError when the session is deleted. */
  get deleted(): AbortSignal {
    return this.#over.signal
  }

  /** The session, or its last state once it is deleted. */
  latest(): ListedSession | undefined {
    return this.#latest()
  }

  find(): ListedSession | undefined {
    return this.#exists ? this.#store.find(this.id) : undefined
  }

  async load(): Promise<LoadedSession | undefined> {
    return this.#exists ? this.#store.load(this.id) : undefined
  }

  /** This and the following return false when there is no session. */
  update(change: RowChange): boolean {
    return this.#exists && this.#store.update(this.id, change)
  }

  async addMessages(messages: readonly Message[]): Promise<boolean> {
    return this.#exists && this.#store.addMessages(this.id, messages)
  }

  async replaceMessages(change: (stored: Message[]) => Message[]): Promise<boolean> {
    return this.#exists && this.#store.replaceMessages(this.id, change)
  }

  /** For the store: the session was deleted. */
  end(): void {
    this.#exists = false
    this.#over.abort(new SessionDeletedError('the session was deleted'))
  }
}
