import { readShape } from '../../json/shape.ts'
import { wordsOf } from '../../text/white-space.ts'
import { textOf } from '../../llm/model.ts'
import type { Message } from '../../message/message.ts'
import { compareIds } from '../../sessions/session.ts'
import type { LoadedSession, SessionStore } from '../../store/session-store.ts'
import { dateTime, inSeconds } from '../../time/date-time.ts'
import { ToolFault } from '../arguments.ts'
import type { Arguments } from '../arguments.ts'
import type { McpTool } from '../config.ts'
import type { PlatformExtension } from './platform-connection.ts'

const text = (description: string): object => ({ type: 'string', description })

const chatrecall: McpTool = {
  name: 'chatrecall',
  description: 'Finds messages of other sessions, or shows the beginning and the end of one.',
  inputSchema: {
    type: 'object',
    properties: {
      query: text('Words to search for'),
      session_id: text('The session to show; nothing is searched for then'),
      limit: { type: 'integer', description: 'How many messages to find: 10, at most 50' },
      after_date: text('Messages from this date and time on (RFC 3339)'),
      before_date: text('Messages up to this date and time (RFC 3339)'),
    },
  },
}

const defaultLimit = 10
const maxLimit = 50
const maxCharacters = 1000
/** How many messages of the beginning, and of the end, of a session are shown. */
const shownMessages = 3

/** Lets the model find what was said in other sessions (X27). */
export function chatRecall(ownId: string, store: SessionStore): PlatformExtension {
  return {
    instructions: () => 'The tool chatrecall finds what was said in other sessions. Use it when the user speaks of earlier work.',
    tools: [
      {
        tool: chatrecall,
        run: (args) => {
          const id = args.optionalText('session_id')
          return id === undefined ? search(store, ownId, queryOf(args)) : shown(store, id)
        },
      },
    ],
  }
}

/** A message with something to read in it. */
interface Said {
  role: Message['role']
  created: number
  text: string
}

/** What people see of a conversation, without what has no text. */
function saidIn({ conversation }: LoadedSession): Said[] {
  return conversation
    .filter(({ metadata }) => metadata.userVisible)
    .map(({ role, created, content }) => ({ role, created: Number(created), text: textOf(content) }))
    .filter((message) => /\P{White_Space}/u.test(message.text))
}

/** The beginning and the end of a session (X28). */
function shown(store: SessionStore, id: string): string {
  const session = loaded(store, id)
  if (session === undefined) throw new ToolFault(`Session not found: ${id}`)
  const messages = saidIn(session)
  const [first, last] = [messages.slice(0, shownMessages), messages.slice(shownMessages).slice(-shownMessages)]
  const more = messages.length - first.length - last.length
  return [
    `Session ${id}: ${session.name}\nWorking directory: ${session.working_dir}`,
    ...first.map(line),
    ...(more > 0 ? [`[${more} more messages]`] : []),
    ...last.map(line),
  ].join('\n\n')
}

function loaded(store: SessionStore, id: string): LoadedSession | undefined {
  try {
    return store.load(id)
  } catch (cause) {
    throw new ToolFault(`Session cannot be read: ${id}`, { cause })
  }
}

function line({ role, text: said }: Said): string {
  const characters = Array.from(said)
  return `${role}: ${characters.length <= maxCharacters ? said : `${characters.slice(0, maxCharacters - 3).join('')}...`}`
}

interface Query {
  words: string[]
  limit: number
  /** Seconds, both included. */
  from: number
  to: number
}

function queryOf(args: Arguments): Query {
  const words = wordsOf(lowered(args.text('query')))
  if (words.length === 0) throw new ToolFault('Missing argument: query')
  const limit = args.optionalInteger('limit') ?? defaultLimit
  if (limit < 1) throw new ToolFault('Invalid argument: limit')
  const [from, to] = [secondOf(args, 'after_date') ?? -Infinity, secondOf(args, 'before_date') ?? Infinity]
  return { words, limit: Math.min(limit, maxLimit), from, to }
}

/** The second in which a moment lies; undefined if none is given. */
function secondOf(args: Arguments, name: string): number | undefined {
  const given = args.optionalText(name)
  if (given === undefined) return undefined
  try {
    return Math.floor(Date.parse(readShape(dateTime, given)) / 1000)
  } catch (cause) {
    throw new ToolFault(`Invalid argument: ${name}`, { cause })
  }
}

/** The messages in which one of the words is, the youngest first (X29). */
function search(store: SessionStore, ownId: string, { words, limit, from, to }: Query): string {
  const found: string[] = []
  for (const { id, name } of othersByAge(store, ownId)) {
    for (const message of readable(store, id).toReversed()) {
      if (found.length === limit) break
      if (message.created < from || message.created > to) continue
      const said = lowered(message.text)
      if (words.some((word) => said.includes(word))) found.push(`Session ${id}: ${name}, ${timeOf(message)}\n${line(message)}`)
    }
  }
  return found.length === 0 ? 'No messages found.' : [`Found ${found.length} messages.`, ...found].join('\n\n')
}

function othersByAge(store: SessionStore, ownId: string): { id: string; name: string }[] {
  const searched = store.list().filter(({ id, session_type: type }) => id !== ownId && (type === 'user' || type === 'scheduled'))
  return searched.sort((a, b) => compareIds(b.id, a.id))
}

/** Nothing of a session that cannot be read. */
function readable(store: SessionStore, id: string): Said[] {
  try {
    const session = store.load(id)
    return session === undefined ? [] : saidIn(session)
  } catch {
    return []
  }
}

/** The letters A to Z as a to z. */
function lowered(value: string): string {
  return value.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** The beginning of time for what is no time. */
function timeOf({ created }: Said): string {
  const moment = new Date(created * 1000)
  return inSeconds(Number.isNaN(moment.getTime()) ? new Date(0) : moment)
}
