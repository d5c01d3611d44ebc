import { readShape } from '../../wire/json/shape.ts'
import { shortened } from '../../text/truncate.ts'
import { wordsOf } from '../../text/white-space.ts'
import { textOf } from '../../llm/model.ts'
import type { Message } from '../../domain/message/message.ts'
import { compareIds, type LoadedSession } from '../../domain/session/session.ts'
import type { SessionStore } from '../../store/session-store.ts'
import { dateTime } from '../../wire/date-time.ts'
import { ToolError, type Arguments } from './arguments.ts'
import type { McpTool } from '../../domain/extension/config.ts'
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
/** How many messages are shown from the beginning, and from the end, of a session. */
const shownMessages = 3

/** Lets the model search other sessions for what was said (X27). */
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

/** A message with a readable text. */
interface Said {
  role: Message['role']
  created: number
  text: string
}

/** The messages of a conversation that people see and that have a text. */
function saidIn({ conversation }: LoadedSession): Said[] {
  return conversation
    .filter(({ metadata }) => metadata.userVisible)
    .map(({ role, created, content }) => ({ role, created: Number(created), text: textOf(content) }))
    .filter((message) => /\P{White_Space}/u.test(message.text))
}

/** The first and the last messages of a session (X28). */
async function shown(store: SessionStore, id: string): Promise<string> {
  const session = await loaded(store, id)
  const messages = saidIn(session)
  if (messages.length === 0) return `Session ${id} has no messages.`
  const from = Math.max(messages.length - shownMessages, 0)
  const numbered = (some: readonly Said[], first: number): string => some.map((message, i) => `${first + i}. ${line(message)}`).join('')
  return [
    `Session: ${session.name} (ID: ${id})\nWorking Dir: ${session.working_dir}\nTotal Messages: ${messages.length}\n\n`,
    `--- First Few Messages ---\n\n${numbered(messages.slice(0, shownMessages), 1)}`,
    messages.length > shownMessages ? `--- Last Few Messages ---\n\n${numbered(messages.slice(from), from + 1)}` : '',
  ].join('')
}

async function loaded(store: SessionStore, id: string): Promise<LoadedSession> {
  let session: LoadedSession | undefined
  try {
    session = await store.load(id)
  } catch (cause) {
    throw new ToolError('Failed to load session: Session cannot be read', { cause })
  }
  if (session === undefined) throw new ToolError('Failed to load session: Session not found')
  return session
}

function line({ role, text: said }: Said): string {
  return `[${role === 'user' ? 'User' : 'Assistant'}] ${shortened(said, maxCharacters)}\n\n`
}

interface Query {
  /** The query as the model wrote it. */
  text: string
  words: string[]
  limit: number
  /** The first and the last second, both included. */
  from: number
  to: number
}

function queryOf(args: Arguments): Query {
  const text = args.optionalText('query') ?? ''
  const words = wordsOf(lowered(text))
  if (words.length === 0) throw new ToolError('Missing required parameter: query or session_id')
  const limit = Math.min(Math.max(args.optionalInteger('limit') ?? defaultLimit, 1), maxLimit)
  const [from, to] = [secondOf(args, 'after_date') ?? -Infinity, secondOf(args, 'before_date') ?? Infinity]
  return { text, words, limit, from, to }
}

/** The second that contains a moment; undefined if the argument is missing, or not a date and time. */
function secondOf(args: Arguments, name: string): number | undefined {
  try {
    const given = args.optionalText(name)
    if (given === undefined) return undefined
    return Math.floor(Date.parse(readShape(dateTime, given)) / 1000)
  } catch {
    return undefined // X29
  }
}

interface Found {
  session: SearchedSession
  messages: Said[]
}

/** The messages that contain one of the words, newest first (X29). */
async function search(store: SessionStore, ownId: string, query: Query): Promise<string> {
  const found: Found[] = []
  let room = query.limit
  for (const session of othersByAge(store, ownId)) {
    if (room === 0) break
    const messages = (await readable(store, session.id)).toReversed().filter((message) => fits(message, query)).slice(0, room)
    room -= messages.length
    if (messages.length > 0) found.push({ session, messages })
  }
  if (found.length === 0) return `No results found for query: '${query.text}'`
  const head = `Found ${query.limit - room} matching message(s) across ${found.length} session(s) for query: '${query.text}'\n\n`
  return head + found.map((one, i) => block(one, i + 1)).join('')
}

function fits({ created, text: said }: Said, { words, from, to }: Query): boolean {
  const searched = lowered(said)
  return created >= from && created <= to && words.some((word) => searched.includes(word))
}

/** The text about the messages found in one session. */
function block({ session, messages }: Found, number: number): string {
  const head = [
    `${number}. Session: ${session.name} (ID: ${session.id})`,
    `   Working Dir: ${session.working_dir}`,
    `   Last Activity: ${dayOf(Math.max(...messages.map(({ created }) => created)))}`,
    `   Showing ${messages.length} of ${session.message_count} total message(s) in session:`,
  ]
  const listed = messages.map(({ role, text: said }, i) => {
    const lines = shortened(said, maxCharacters).split('\n').map((one) => `   ${one}\n`)
    return `   ${number}.${i + 1} [${role}]\n${lines.join('')}\n`
  })
  return `${head.join('\n')}\n\n${listed.join('')}`
}

type SearchedSession = Pick<LoadedSession, 'id' | 'name' | 'working_dir' | 'message_count'>

function othersByAge(store: SessionStore, ownId: string): SearchedSession[] {
  const searched = store.list().filter(({ id, session_type: type }) => id !== ownId && (type === 'user' || type === 'scheduled'))
  return searched.sort((a, b) => compareIds(b.id, a.id))
}

/** Empty for a session that cannot be read. */
async function readable(store: SessionStore, id: string): Promise<Said[]> {
  try {
    const session = await store.load(id)
    return session === undefined ? [] : saidIn(session)
  } catch {
    return []
  }
}

/** Converts the letters A to Z to lower case. */
function lowered(value: string): string {
  return value.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** The day of a message. A value that is not a valid time counts as the earliest time. */
function dayOf(created: number): string {
  const moment = new Date(created * 1000)
  return (Number.isNaN(moment.getTime()) ? new Date(0) : moment).toISOString().slice(0, -'T00:00:00.000Z'.length)
}
