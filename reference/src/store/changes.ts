import { Parser } from '../wire/json/document.ts'
import type { Int64 } from '../wire/json/shape.ts'
import { TimeSlices, runInSlices } from '../wire/json/time-slices.ts'
import type { Message } from '../domain/message/message.ts'
import type { Session } from '../domain/session/session.ts'

/** The stored fields of a session, without its messages and their number. */
export type SessionRow = Omit<Session, 'conversation' | 'message_count'>

/** The fields of a session that may change. */
export type RowChange = Partial<Omit<SessionRow, 'id' | 'created_at' | 'updated_at'>>

/** A change of a session, which is one line of its log. The times are those of the row. */
export type Change =
  | { type: 'created'; row: SessionRow; messages: Message[] }
  | { type: 'updated'; row: Partial<SessionRow> }
  | { type: 'added'; updated_at: string; messages: Message[] }
  | { type: 'replaced'; messages: Message[] }
  /** Deletes all messages of this second and later. */
  | { type: 'cut'; from: Int64 }

/** The state of a session according to its log. Message ids are those that were saved. */
export interface Replayed {
  row: SessionRow
  messages: Message[]
}

/** Applies the changes in a log. The first change creates the session. Rejects if a change cannot be read. */
export async function replay(lines: AsyncIterable<string>): Promise<Replayed> {
  const slices = new TimeSlices()
  let known: Replayed | undefined
  for await (const line of lines) {
    await slices.yieldIfDue()
    const change = await readChange(line)
    if (known !== undefined) known = apply(known, change)
    else if (change.type === 'created') known = { row: change.row, messages: change.messages }
    else break
  }
  if (known === undefined) throw new Error('the log does not begin with a session')
  return known
}

/** What can be read of a session whose log has unreadable lines. */
export async function salvage(lines: AsyncIterable<string>, empty: SessionRow): Promise<Replayed & { lines: number; unreadable: number }> {
  let known: Replayed = { row: empty, messages: [] }
  let [count, unreadable] = [0, 0]
  for await (const line of lines) {
    try {
      const change = await readChange(line)
      if (count === 0 && change.type === 'created') known = { row: { ...empty, ...change.row }, messages: change.messages }
      else known = apply(known, change)
    } catch {
      unreadable++
    }
    count++
  }
  return { ...known, lines: count, unreadable }
}

function apply({ row, messages }: Replayed, change: Change): Replayed {
  switch (change.type) {
    case 'created':
      throw new Error('the log has two beginnings')
    case 'updated':
      return { row: { ...row, ...change.row }, messages }
    case 'added':
      for (const message of change.messages) messages.push(message)
      return { row: { ...row, updated_at: change.updated_at }, messages }
    case 'replaced':
      return { row, messages: change.messages }
    case 'cut':
      return { row, messages: messages.filter(({ created }) => created < change.from) }
    default:
      return change satisfies never
  }
}

/** Parses a line. Bodies may have 9,000 levels, and in a line they are nested even deeper (S27). */
async function readChange(line: string): Promise<Change> {
  return withIntegers((await runInSlices(new Parser(line, { maxLevels: Infinity }).steps())) as Change) // only this program writes logs
}

/** Restores a `created` that a double cannot hold: it is a bigint in memory, and digits in the file. */
function withIntegers(change: Change): Change {
  if (change.type === 'cut') return { ...change, from: asInt64(change.from) }
  if (change.type !== 'updated') for (const one of change.messages) one.created = asInt64(one.created)
  return change
}

function asInt64(value: unknown): Int64 {
  return typeof value === 'number' ? value : BigInt(String(value))
}
