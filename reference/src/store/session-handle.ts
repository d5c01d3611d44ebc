import type { Message } from '../domain/message/message.ts'
import type { ListedSession, LoadedSession } from '../domain/session/session.ts'
import type { RowChange } from './changes.ts'

/** The abort reason of all work for a deleted session (G29). */
export class SessionDeletedError extends Error {
  override readonly name = 'SessionDeletedError'
}

/** The methods of the store that a handle needs. */
interface Store {
  find: (id: string) => ListedSession | undefined
  load: (id: string) => Promise<LoadedSession | undefined>
  update: (id: string, change: RowChange) => boolean
  addMessages: (id: string, messages: readonly Message[]) => Promise<boolean>
  replaceMessages: (id: string, change: (stored: Message[]) => Message[]) => Promise<boolean>
}

/**
 * A user's access to a session. After the session is deleted, its handle never finds a session again, even if a new session gets
 * the same number (G30). The same applies to a handle that was made before a session had its number.
 */
export class SessionHandle {
  readonly id: string
  readonly #store: Store
  readonly #latest: () => ListedSession | undefined
  readonly #over = new AbortController()
  #exists: boolean

  /** For the store only. `latest` returns the current session, or its state when it was deleted. */
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

  /** The session, or its last state after it was deleted. */
  latest(): ListedSession | undefined {
    return this.#latest()
  }

  find(): ListedSession | undefined {
    return this.#exists ? this.#store.find(this.id) : undefined
  }

  async load(): Promise<LoadedSession | undefined> {
    return this.#exists ? this.#store.load(this.id) : undefined
  }

  /** This method and the following ones return false if there is no session. */
  update(change: RowChange): boolean {
    return this.#exists && this.#store.update(this.id, change)
  }

  async addMessages(messages: readonly Message[]): Promise<boolean> {
    return this.#exists && this.#store.addMessages(this.id, messages)
  }

  async replaceMessages(change: (stored: Message[]) => Message[]): Promise<boolean> {
    return this.#exists && this.#store.replaceMessages(this.id, change)
  }

  /** For the store only: marks the session as deleted. */
  end(): void {
    this.#exists = false
    this.#over.abort(new SessionDeletedError('the session was deleted'))
  }
}
