import type { Message } from '../message/message.ts'
import type { ListedSession, LoadedSession, RowChange, SessionStore } from './session-store.ts'

/** The reason with which all that works for a session ends when it is deleted (G29). */
export class SessionGoneError extends Error {
  override readonly name = 'SessionGoneError'
}

/**
 * A session for those who work for it. When it is deleted they have none, even if another one gets its number (G30). Neither
 * have those of a number that had no session when they asked for it.
 */
export class OwnSession {
  readonly id: string
  readonly #store: SessionStore
  readonly #latest: () => ListedSession | undefined
  readonly #over = new AbortController()
  #exists: boolean

  /** For the store. `latest` returns the session as it is, or as it was when it was deleted. */
  constructor(id: string, store: SessionStore, latest?: () => ListedSession) {
    this.id = id
    this.#store = store
    this.#latest = latest ?? (() => undefined)
    this.#exists = latest !== undefined
  }

  /** Aborted with a SessionGoneError when the session is deleted. */
  get gone(): AbortSignal {
    return this.#over.signal
  }

  /** Also of one that was deleted. */
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
    this.#over.abort(new SessionGoneError('the session was deleted'))
  }
}
