import { JsonDocument, Parser } from '../json/document.ts'
import type { Int64 } from '../json/shape.ts'
import type { Message } from '../message/message.ts'
import type { Session } from '../sessions/session.ts'

/** A session without what is counted or loaded. */
export type SessionRow = Omit<Session, 'conversation' | 'message_count'>

/** What happened to a session: one line of its log. Times are those of the row. */
export type Change =
  | { type: 'created'; row: SessionRow; messages: Message[] }
  | { type: 'updated'; row: Partial<SessionRow> }
  | { type: 'added'; updated_at: string; messages: Message[] }
  | { type: 'replaced'; messages: Message[] }
  /** All messages of this second and later are gone. */
  | { type: 'cut'; from: Int64 }

/** A session as its log has it, message ids left as they came. */
export interface Replayed {
  row: SessionRow
  messages: Message[]
}

/**
 * Applies the changes of a log, the first of which makes the session, in steps that take no time. Throws when one of them
 * cannot be read.
 */
export function* replaying(lines: readonly string[]): Generator<undefined, Replayed> {
  let known: Replayed | undefined
  for (const line of lines) {
    const change = withIntegers((yield* new Parser(line).steps()) as Change) // written by nobody but this program
    if (known !== undefined) known = apply(known, change)
    else if (change.type === 'created') known = { row: change.row, messages: change.messages }
    else break
    yield
  }
  if (known === undefined) throw new Error('the log does not begin with a session')
  return known
}

/** What a log tells of its session although lines of it cannot be read; each of these counts as a message. */
export function salvage(lines: readonly string[], empty: SessionRow): { row: SessionRow; messageCount: number } {
  let known: Replayed = { row: empty, messages: [] }
  let unreadable = 0
  for (const [at, line] of lines.entries()) {
    try {
      const change = readChange(line)
      if (at === 0 && change.type === 'created') known = { row: { ...empty, ...change.row }, messages: change.messages }
      else known = apply(known, change)
    } catch {
      unreadable++
    }
  }
  return { row: known.row, messageCount: known.messages.length + unreadable }
}

function apply({ row, messages }: Replayed, change: Change): Replayed {
  switch (change.type) {
    case 'created':
      throw new Error('the log has two beginnings')
    case 'updated':
      return { row: { ...row, ...change.row }, messages }
    case 'added':
      messages.push(...change.messages)
      return { row: { ...row, updated_at: change.updated_at }, messages }
    case 'replaced':
      return { row, messages: change.messages }
    case 'cut':
      return { row, messages: messages.filter(({ created }) => created < change.from) }
    default:
      return change satisfies never
  }
}

function readChange(line: string): Change {
  return withIntegers(new JsonDocument(line).value as Change)
}

/** A `created` beyond what a double holds is a bigint in memory, and digits in the file. */
function withIntegers(change: Change): Change {
  if (change.type === 'cut') return { ...change, from: asInt64(change.from) }
  if (change.type !== 'updated') for (const one of change.messages) one.created = asInt64(one.created)
  return change
}

function asInt64(value: unknown): Int64 {
  return typeof value === 'number' ? value : BigInt(String(value))
}
