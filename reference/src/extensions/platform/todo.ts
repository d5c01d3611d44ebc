import { isObject } from '../../json/is-object.ts'
import { withMember } from '../../json/ordered.ts'
import type { Settings } from '../../settings/settings.ts'
import type { OwnSession } from '../../store/own-session.ts'
import { isBlank } from '../../text/white-space.ts'
import type { McpTool } from '../config.ts'
import type { PlatformAnswer, PlatformExtension } from './platform-connection.ts'

const defaultMaxCharacters = 50_000

const todoWrite: McpTool = {
  name: 'todo_write',
  description: 'Replaces the todo list of this session.',
  inputSchema: { type: 'object', properties: { content: { type: 'string', description: 'The whole list' } }, required: ['content'] },
}

/** The todo list of a session, which is kept with it (X21). */
export function todo(session: OwnSession, settings: Settings): PlatformExtension {
  const write = (content: string): PlatformAnswer => {
    const max = maxCharacters(settings)
    const count = Array.from(content).length
    if (count > max) return `The todo list is too long: ${count} characters, at most ${max}.`
    const before = session.find()
    if (before === undefined) return { status: 'error', error: '-32603: Session not found' }
    session.update({ extension_data: withMember(before.extension_data, 'todo.v0', { content }) })
    return 'The todo list was written.'
  }
  return {
    note: () => {
      const list = listOf(session.find()?.extension_data['todo.v0'])
      return isBlank(list) ? '' : `Todo list:\n${list}` // M20
    },
    tools: [{ tool: todoWrite, run: (args) => write(args.text('content')) }],
  }
}

function listOf(kept: unknown): string {
  const content = isObject(kept) ? kept.content : kept
  return typeof content === 'string' ? content : ''
}

function maxCharacters(settings: Settings): number {
  const text = settings.variable('GOOSE_TODO_MAX_CHARS') ?? ''
  return /^\d+$/.test(text) && Number(text) >= 1 ? Number(text) : defaultMaxCharacters
}
