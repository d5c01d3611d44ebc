import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isMissing } from '../error-code.ts'
import type { Int64 } from '../wire/json/shape.ts'
import { jsonBytes, sizeOf, stringifyJson } from '../wire/json/stringify.ts'
import type { Logger } from '../log.ts'
import type { Message } from '../domain/message/message.ts'
import type { ListedSession, LoadedSession } from '../domain/session/session.ts'
import { mapConcurrently } from '../map-concurrently.ts'
import { makeDirectory } from '../settings/private-files.ts'
import { inSeconds } from '../wire/date-time.ts'
import { PublicError } from '../public-error.ts'
import { appendToLog, createLog, deleteLog, readLog, replaceInLog, sizeOfLog, type Line } from './change-log.ts'
import { replay, salvage, type Change, type Replayed, type RowChange, type SessionRow } from './changes.ts'
import { legacySessions } from './legacy.ts'
import { SessionHandle } from './session-handle.ts'

/** The fields of a new session; all others are empty. */
export type NewSession = Pick<SessionRow, 'working_dir' | 'name' | 'session_type'> & RowChange

/** A session in memory. */
interface Entry {
  row: SessionRow
  /** The creation times of its messages, in order. */
  created: Int64[]
  /** The number of unreadable lines in its log; each counts as a message. Undefined if the log can be read. */
  unreadable?: number
  /** How often its messages were cut or replaced. */
  losses: number
  /** The size of the log at which to check whether it can be rewritten shorter. */
  lookAt: number
  /** The handle that all users share. It is made on first use. */
  handle?: SessionHandle
}

/** Logs above this size are rewritten when most of their content is obsolete. */
const largeLog = 1 << 20
/** How many logs are read at the same time when the store opens. */
const readAtOnce = 8

/**
 * The sessions and their messages (GA 9.1). Each session has its own log below `<data>/sessions/log`. Once a method returns, or
 * its promise is fulfilled, its change survives a kill of the process.
 *
 * A change is atomic: no request sees a part of another request's change. Slow work comes first and in time slices: reading logs,
 * and rendering messages. Rows are in memory; messages are read when needed. Only one process at a time may use a directory, but
 * new sessions of two processes never collide.
 */
export class SessionStore {
  /** Called with the id of each new session. */
  onCreated: (id: string) => void = () => undefined
  readonly #directory: string
  readonly #now: () => Date
  readonly #logger: Logger
  #opening: Promise<void> | undefined
  #entries: Map<string, Entry> | undefined

  constructor(dataDirectory: string, logger: Logger, now: () => Date = () => new Date()) {
    this.#directory = join(dataDirectory, 'sessions', 'log')
    this.#logger = logger
    this.#now = now
  }

  /** Reads all logs on the first call. It must be called before any other method. */
  open(): Promise<void> {
    return (this.#opening ??= this.#readAll().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    }))
  }

  /** Creates a session with the next free number of the day. */
  async create(fields: NewSession, messages: Message[] = []): Promise<ListedSession> {
    const rendered = await jsonBytes(messages)
    writing(() => {
      makeDirectory(this.#directory)
    })
    const entries = this.#all
    const now = inSeconds(this.#now())
    const day = now.slice(0, 10).replaceAll('-', '')
    for (let number = highestNumber(entries.keys(), day) + 1; ; number++) {
      const row: SessionRow = { ...emptyRow, ...fields, id: `${day}_${number}`, created_at: now, updated_at: now }
      // Another process may have used this number.
      if (!writing(() => createLog(this.#path(row.id), line({ type: 'created', row }, rendered)))) continue
      const entry = { row, created: timesOf(messages), losses: 0, lookAt: largeLog }
      entries.set(row.id, entry)
      this.onCreated(row.id)
      return listed(entry)
    }
  }

  /** All sessions, in any order. */
  list(): ListedSession[] {
    return [...this.#all.values()].map(listed)
  }

  find(id: string): ListedSession | undefined {
    const entry = this.#all.get(id)
    return entry && listed(entry)
  }

  /** The handle of a session, the same for all its users. */
  handle(id: string): SessionHandle {
    const entry = this.#all.get(id)
    if (entry === undefined) return new SessionHandle(id, this)
    return (entry.handle ??= new SessionHandle(id, this, () => listed(entry)))
  }

  /**
   * A session with its messages. Changes that are made meanwhile may or may not be included. Rejects with a PublicError if the
   * messages cannot be read.
   */
  async load(id: string): Promise<LoadedSession | undefined> {
    const entry = this.#all.get(id)
    if (entry === undefined) return undefined
    try {
      return loaded(entry, await replay(readLog(this.#path(id))))
    } catch (cause) {
      if (this.#all.get(id) !== entry) return undefined // it was deleted meanwhile
      throw new PublicError('Session cannot be read', { cause })
    }
  }

  /** Returns false for an unknown session. */
  update(id: string, change: RowChange): boolean {
    const entry = this.#all.get(id)
    if (entry === undefined) return false
    const row = { ...change, updated_at: inSeconds(this.#now()) }
    this.#append(entry, line({ type: 'updated', row }))
    entry.row = { ...entry.row, ...row }
    return true
  }

  /** Appends messages. Returns false for an unknown session. */
  async addMessages(id: string, messages: readonly Message[]): Promise<boolean> {
    const entry = this.#all.get(id)
    if (entry === undefined) return false
    if (messages.length === 0) return true
    const rendered = await jsonBytes(messages)
    if (this.#all.get(id) !== entry) return false
    const updatedAt = inSeconds(this.#now())
    this.#append(entry, line({ type: 'added', updated_at: updatedAt }, rendered))
    entry.row = { ...entry.row, updated_at: updatedAt }
    for (const { created } of messages) entry.created.push(created)
    return true
  }

  /**
   * Replaces all messages by the result of `change`, which is called again if the messages have changed meanwhile. Returns false
   * for an unknown session.
   */
  async replaceMessages(id: string, change: (stored: Message[]) => Message[]): Promise<boolean> {
    const entry = this.#all.get(id)
    if (entry === undefined) return false
    for (;;) {
      const [losses, count] = [entry.losses, entry.created.length]
      const session = await this.load(id)
      if (session === undefined) return false
      const messages = change(session.conversation)
      const rendered = await jsonBytes(messages)
      if (this.#all.get(id) !== entry) return false
      if (entry.losses !== losses || entry.created.length !== count) continue
      this.#append(entry, line({ type: 'replaced' }, rendered))
      entry.created = timesOf(messages)
      entry.losses++
      return true
    }
  }

  /** Deletes the messages that were created in this second or later. Returns false for an unknown session. */
  cut(id: string, from: Int64): boolean {
    const entry = this.#all.get(id)
    if (entry === undefined) return false
    if (entry.unreadable !== undefined) throw new PublicError('Session cannot be read')
    const kept = entry.created.filter((created) => created < from)
    if (kept.length === entry.created.length) return true
    this.#append(entry, line({ type: 'cut', from }))
    entry.created = kept
    entry.losses++
    return true
  }

  /** Deletes a session, and ends all work for it. Returns false for an unknown session. */
  delete(id: string): boolean {
    const entries = this.#all
    const entry = entries.get(id)
    if (entry === undefined) return false
    writing(() => {
      deleteLog(this.#path(id))
    })
    entries.delete(id)
    entry.handle?.end()
    return true
  }

  #append(entry: Entry, change: Line): void {
    const { id } = entry.row
    const path = this.#path(id)
    writing(() => {
      appendToLog(path, change)
    })
    if (sizeOfLog(path) < entry.lookAt) return
    this.#shorten(entry, path).catch((err: unknown) => {
      // The change itself has already been written.
      if (this.#all.get(id) === entry) this.#logger.warn('log not shortened', { session: id, err })
    })
  }

  /** Rewrites a log. Changes may be added to it meanwhile. */
  async #shorten(entry: Entry, path: string): Promise<void> {
    const size = sizeOfLog(path)
    const isThere = (): boolean => this.#all.get(entry.row.id) === entry
    entry.lookAt = Infinity
    try {
      const { row, messages } = await replay(readLog(path, size))
      const snapshot = line({ type: 'created', row }, await jsonBytes(messages))
      if (2 * sizeOf(snapshot) < size) await replaceInLog(path, size, snapshot, isThere)
    } finally {
      if (isThere()) entry.lookAt = Math.max(largeLog, 2 * sizeOfLog(path))
    }
  }

  #path(id: string): string {
    return join(this.#directory, `${id}.jsonl`)
  }

  get #all(): Map<string, Entry> {
    if (this.#entries === undefined) throw new Error('the store is not open')
    return this.#entries
  }

  /** If a log has unreadable lines, the session is kept, but its messages are not (G15). */
  async #readAll(): Promise<void> {
    await this.#takeOver()
    const entries = new Map<string, Entry>()
    const ids = logsIn(this.#directory).map((name) => name.slice(0, -'.jsonl'.length))
    await mapConcurrently(readAtOnce, ids, async (id) => {
      const entry = await this.#entryOf(id)
      if (entry !== undefined) entries.set(id, entry)
    })
    this.#entries = entries
  }

  /** If there are no logs yet, converts the sessions of older versions: all of them, or none (GA 17.3). */
  async #takeOver(): Promise<void> {
    const sessions = dirname(this.#directory)
    if (existsSync(this.#directory) || !existsSync(dirname(sessions))) return
    const temporary = `${this.#directory}.${process.pid}.tmp`
    try {
      mkdirSync(temporary, { recursive: true, mode: 0o700 })
      for await (const { row, messages } of legacySessions(sessions, this.#logger)) {
        createLog(join(temporary, `${row.id}.jsonl`), line({ type: 'created', row }, await jsonBytes(messages)))
      }
      renameSync(temporary, this.#directory)
    } catch (err) {
      if (existsSync(temporary)) rmSync(temporary, { recursive: true, force: true })
      this.#logger.warn('old sessions not taken over', { err })
    }
  }

  /** Undefined for a session whose first line was cut short, so that its creation was never acknowledged. */
  async #entryOf(id: string): Promise<Entry | undefined> {
    const path = this.#path(id)
    try {
      const { row, messages } = await replay(readLog(path))
      return { row, created: timesOf(messages), losses: 0, lookAt: Math.max(largeLog, 2 * sizeOfLog(path)) }
    } catch (err) {
      const empty = { ...emptyRow, id }
      // A log that cannot be opened counts as one unreadable line.
      const { row, messages, lines, unreadable } = await salvage(readLog(path), empty).catch(() => ({ row: empty, messages: [], lines: 1, unreadable: 1 }))
      if (lines === 0) return undefined
      this.#logger.warn('session not readable', { session: id, err })
      return { row, created: timesOf(messages), unreadable, losses: 0, lookAt: Infinity }
    }
  }
}

/** Performs a write. Throws a PublicError if it fails. */
function writing<T>(write: () => T): T {
  try {
    return write()
  } catch (cause) {
    throw new PublicError('Session cannot be written', { cause })
  }
}

/** The time of a session whose own times cannot be read (G15). */
const longAgo = '1970-01-01T00:00:00Z'

/** The fields in the order in which they are written (GA 4.7), with the values that they have if nothing else is known. */
const emptyRow: SessionRow = {
  id: '',
  working_dir: '',
  name: '',
  user_set_name: false,
  session_type: 'user',
  created_at: longAgo,
  updated_at: longAgo,
  extension_data: {},
  total_tokens: null,
  input_tokens: null,
  output_tokens: null,
  accumulated_total_tokens: null,
  accumulated_input_tokens: null,
  accumulated_output_tokens: null,
  schedule_id: null,
  recipe: null,
  user_recipe_values: null,
  provider_name: null,
  model_config: null,
}

/** The line for a change, with messages that are already rendered. */
function line(change: WithoutMessages<Change>, messages?: Line): Line {
  const text = stringifyJson(change)
  if (messages === undefined) return [Buffer.from(text)]
  return [Buffer.from(`${text.slice(0, -1)},"messages":`), ...messages, Buffer.from('}')]
}

type WithoutMessages<T> = T extends unknown ? Omit<T, 'messages'> : never

function timesOf(messages: readonly Message[]): Int64[] {
  return messages.map(({ created }) => created)
}

function listed({ row, created, unreadable = 0 }: Entry): ListedSession {
  const { provider_name, model_config, ...first } = { ...emptyRow, ...row }
  return { ...first, conversation: null, message_count: created.length + unreadable, provider_name, model_config }
}

function loaded(entry: Entry, { messages }: Replayed): LoadedSession {
  const { id } = entry.row
  const conversation = messages.map((message, index) => ({ ...message, id: `msg_${id}_${index}` }))
  return { ...listed(entry), conversation, message_count: messages.length }
}

function highestNumber(ids: Iterable<string>, day: string): number {
  let highest = 0
  for (const id of ids) {
    const [, date, number] = /^(\d{8})_(\d{1,15})/.exec(id) ?? []
    if (date === day) highest = Math.max(highest, Number(number))
  }
  return highest
}

function logsIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith('.jsonl'))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
