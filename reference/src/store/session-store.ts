import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Int64 } from '../json/shape.ts'
import { stringifyJson } from '../json/stringify.ts'
import { atOnce, inTurns } from '../json/turns.ts'
import type { Logger } from '../log.ts'
import type { Message } from '../message/message.ts'
import type { Session, SessionType } from '../sessions/session.ts'
import { makeDirectory } from '../settings/private-files.ts'
import { inSeconds } from '../time/date-time.ts'
import { ToldError } from '../told-error.ts'
import { appendToLog, createLog, deleteLog, readLog, readLogAside, replaceLog, sizeOfLog } from './change-log.ts'
import { replaying, salvage } from './changes.ts'
import type { Change, Replayed, SessionRow } from './changes.ts'
import { legacySessions } from './legacy.ts'
import { OwnSession } from './own-session.ts'

/** What a new session is made of; everything else is empty. */
export type NewSession = Pick<Session, 'working_dir' | 'name' | 'session_type'> &
  Partial<Omit<SessionRow, 'id' | 'created_at' | 'updated_at'>>

/** What may be changed in a session. */
export type RowChange = Partial<Omit<SessionRow, 'id' | 'created_at' | 'updated_at'>>

/** A session whose messages are in its file. */
export type ListedSession = Session & { conversation: null }
/** A session with its messages. */
export type LoadedSession = Session & { conversation: Message[] }

/** What memory holds of a session. */
interface Entry {
  row: SessionRow
  messageCount: number
  /** The size of the log from which on it is worth a look whether it could be shorter. */
  lookAt: number
  /** What its users share; made on first use. */
  own?: OwnSession
}

/** Logs below this size are left as they are; larger ones are written anew when most of them is of no use any more. */
const largeLog = 1 << 20

/**
 * The sessions and their messages (GA 9.1), each in a log of its own below `<data>/sessions/log`. What a method has done
 * when it returns outlives the process, even one that is killed.
 *
 * Everything is synchronous, so that no request sees a part of what another one does. Rows are in memory; messages are
 * read when they are asked for. One process at a time may use a directory; two do no harm to each other's new sessions.
 */
export class SessionStore {
  /** Called with the number of each new session. */
  onCreated: (id: string) => void = () => undefined
  readonly #directory: string
  readonly #now: () => Date
  readonly #logger: Logger
  #entries: Map<string, Entry> | undefined

  constructor(dataDirectory: string, logger: Logger, now: () => Date = () => new Date()) {
    this.#directory = join(dataDirectory, 'sessions', 'log')
    this.#logger = logger
    this.#now = now
  }

  /** Makes a session with the next free number of the day. */
  create(fields: NewSession, messages: Message[] = []): ListedSession {
    writing(() => {
      makeDirectory(this.#directory)
    })
    const entries = this.#all()
    const now = inSeconds(this.#now())
    const day = now.slice(0, 10).replaceAll('-', '')
    for (let number = highestNumber(entries.keys(), day) + 1; ; number++) {
      const row: SessionRow = { ...emptyRow, ...fields, id: `${day}_${number}`, created_at: now, updated_at: now }
      // Another process may have been here.
      if (!writing(() => createLog(this.#path(row.id), render({ type: 'created', row, messages })))) continue
      const entry = { row, messageCount: messages.length, lookAt: largeLog }
      entries.set(row.id, entry)
      this.onCreated(row.id)
      return listed(entry)
    }
  }

  /** All sessions, in no order. */
  list(): ListedSession[] {
    return [...this.#all().values()].map(listed)
  }

  find(id: string): ListedSession | undefined {
    const entry = this.#all().get(id)
    return entry && listed(entry)
  }

  /** The session for those who work for it, the same for all of them. */
  own(id: string): OwnSession {
    const entry = this.#all().get(id)
    if (entry === undefined) return new OwnSession(id, this)
    return (entry.own ??= new OwnSession(id, this, () => listed(entry)))
  }

  /** A session with its messages. Throws when they cannot be read. */
  load(id: string): LoadedSession | undefined {
    const entry = this.#all().get(id)
    if (entry === undefined) return undefined
    return loaded(entry, this.#replay(id))
  }

  /** The same while others have their turn. What they do meanwhile to the session may be in it or not. */
  async loadAside(id: string): Promise<LoadedSession | undefined> {
    const entry = this.#all().get(id)
    if (entry === undefined) return undefined
    const replayed = await readLogAside(this.#path(id)).then((lines) => inTurns(replaying(lines))).catch((cause: unknown) => {
      if (this.#entries?.get(id) === entry) throw new ToldError('Session cannot be read', { cause })
      return undefined // it was deleted meanwhile
    })
    return replayed && loaded(entry, replayed)
  }

  /** False for an unknown session. */
  update(id: string, change: RowChange): boolean {
    const entry = this.#all().get(id)
    if (entry === undefined) return false
    const row = { ...change, updated_at: inSeconds(this.#now()) }
    this.#append(entry, { type: 'updated', row })
    entry.row = { ...entry.row, ...row }
    return true
  }

  /** Adds messages behind those that are there. False for an unknown session. */
  addMessages(id: string, messages: Message[]): boolean {
    const entry = this.#all().get(id)
    if (entry === undefined) return false
    if (messages.length === 0) return true
    const updatedAt = inSeconds(this.#now())
    this.#append(entry, { type: 'added', updated_at: updatedAt, messages })
    entry.row = { ...entry.row, updated_at: updatedAt }
    entry.messageCount += messages.length
    return true
  }

  /** Puts other messages in the place of all. False for an unknown session. */
  replaceMessages(id: string, messages: Message[]): boolean {
    const entry = this.#all().get(id)
    if (entry === undefined) return false
    this.#append(entry, { type: 'replaced', messages })
    entry.messageCount = messages.length
    return true
  }

  /** Deletes the messages that were created in this second or later. False for an unknown session. */
  cut(id: string, from: Int64): boolean {
    const entry = this.#all().get(id)
    if (entry === undefined) return false
    const kept = this.#replay(id).messages.filter(({ created }) => created < from).length
    if (kept < entry.messageCount) this.#append(entry, { type: 'cut', from })
    entry.messageCount = kept
    return true
  }

  /** Ends what works for the session, too. False for an unknown session. */
  delete(id: string): boolean {
    const entries = this.#all()
    const entry = entries.get(id)
    if (entry === undefined) return false
    writing(() => {
      deleteLog(this.#path(id))
    })
    entries.delete(id)
    entry.own?.end()
    return true
  }

  #append(entry: Entry, change: Change): void {
    const path = this.#path(entry.row.id)
    writing(() => {
      appendToLog(path, render(change))
    })
    if (sizeOfLog(path) < entry.lookAt) return
    try {
      this.#shorten(entry, path)
    } catch (err) {
      // The change is safe all the same.
      this.#logger.warn('log not shortened', { session: entry.row.id, err })
    }
  }

  #shorten(entry: Entry, path: string): void {
    const { row, messages } = this.#replay(entry.row.id)
    const snapshot = render({ type: 'created', row, messages })
    if (2 * Buffer.byteLength(snapshot) < sizeOfLog(path)) replaceLog(path, snapshot)
    entry.lookAt = Math.max(largeLog, 2 * sizeOfLog(path))
  }

  #replay(id: string): Replayed {
    try {
      return atOnce(replaying(readLog(this.#path(id))))
    } catch (cause) {
      throw new ToldError('Session cannot be read', { cause })
    }
  }

  #path(id: string): string {
    return join(this.#directory, `${id}.jsonl`)
  }

  /** Reads all logs, once. Of one that cannot be read as a whole the session is known, and its messages are not (G15). */
  #all(): Map<string, Entry> {
    if (this.#entries !== undefined) return this.#entries
    this.#takeOver()
    const entries = new Map<string, Entry>()
    for (const name of logsIn(this.#directory)) {
      const id = name.slice(0, -'.jsonl'.length)
      const entry = this.#entryOf(id)
      if (entry !== undefined) entries.set(id, entry)
    }
    return (this.#entries = entries)
  }

  /** Where there have been no logs yet, those of the sessions of older versions are made: all of them, or none (GA2 7). */
  #takeOver(): void {
    const sessions = dirname(this.#directory)
    if (existsSync(this.#directory) || !existsSync(dirname(sessions))) return
    const temporary = `${this.#directory}.${process.pid}.tmp`
    try {
      mkdirSync(temporary, { recursive: true, mode: 0o700 })
      for (const { row, messages } of legacySessions(sessions, this.#logger)) {
        createLog(join(temporary, `${row.id}.jsonl`), render({ type: 'created', row, messages }))
      }
      renameSync(temporary, this.#directory)
    } catch (err) {
      rmSync(temporary, { recursive: true, force: true })
      this.#logger.warn('old sessions not taken over', { err })
    }
  }

  /** Undefined for a session that nobody was told of: its first line was cut short. */
  #entryOf(id: string): Entry | undefined {
    try {
      const { row, messages } = this.#replay(id)
      return { row, messageCount: messages.length, lookAt: Math.max(largeLog, 2 * sizeOfLog(this.#path(id))) }
    } catch (err) {
      const lines = this.#linesOf(id)
      if (lines.length === 0) return undefined
      this.#logger.warn('session not readable', { session: id, err })
      return { ...salvage(lines, { ...emptyRow, id, created_at: longAgo, updated_at: longAgo }), lookAt: Infinity }
    }
  }

  /** One line that says nothing stands for a log that is there, and cannot be opened. */
  #linesOf(id: string): string[] {
    try {
      return readLog(this.#path(id))
    } catch {
      return ['']
    }
  }
}

/** Runs what writes. Throws a ToldError when it cannot. */
function writing<T>(write: () => T): T {
  try {
    return write()
  } catch (cause) {
    throw new ToldError('Session cannot be written', { cause })
  }
}

/** A time that cannot be read (G15). */
const longAgo = '1970-01-01T00:00:00Z'

const emptyRow: Omit<SessionRow, 'id' | 'created_at' | 'updated_at'> = {
  working_dir: '',
  name: '',
  user_set_name: false,
  session_type: 'user' satisfies SessionType,
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

function render(change: Change): string {
  return stringifyJson(change)
}

/** The session with its members in the order in which they are written (GA 4.7). */
function listed({ row, messageCount }: Entry): ListedSession {
  return {
    id: row.id,
    working_dir: row.working_dir,
    name: row.name,
    user_set_name: row.user_set_name,
    session_type: row.session_type,
    created_at: row.created_at,
    updated_at: row.updated_at,
    extension_data: row.extension_data,
    total_tokens: row.total_tokens,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    accumulated_total_tokens: row.accumulated_total_tokens,
    accumulated_input_tokens: row.accumulated_input_tokens,
    accumulated_output_tokens: row.accumulated_output_tokens,
    schedule_id: row.schedule_id,
    recipe: row.recipe,
    user_recipe_values: row.user_recipe_values,
    conversation: null,
    message_count: messageCount,
    provider_name: row.provider_name,
    model_config: row.model_config,
  }
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
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
