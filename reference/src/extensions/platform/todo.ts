import { isObject } from '../../json/is-object.ts'
import { withMember } from '../../json/ordered.ts'
import type { Settings } from '../../settings/settings.ts'
import type { SessionStore } from '../../store/session-store.ts'
import { isBlank } from '../../text/white-space.ts'
import { ToolFault } from '../arguments.ts'
import type { McpTool } from '../config.ts'
import type { PlatformExtension } from './platform-connection.ts'

const defaultMaxCharacters = 50_000

const todoWrite: McpTool = {
  name: 'todo_write',
  description: 'Replaces the todo list of this session.',
  inputSchema: { type: 'object', properties: { content: { type: 'string', description: 'The whole list' } }, required: ['content'] },
}

/** The todo list of a session, which is kept with it (X21). */
export function todo(sessionId: string, store: SessionStore, settings: Settings): PlatformExtension {
  const write = (content: string): string => {
    const max = maxCharacters(settings)
    const count = Array.from(content).length
    if (count > max) throw new ToolFault(`Todo list too large: ${count} chars (max: ${max})`)
    const session = store.find(sessionId)
    if (session === undefined) throw new ToolFault('Session not found')
    store.update(sessionId, { extension_data: withMember(session.extension_data, 'todo.v0', { content }) })
    return `Updated (${count} chars)`
  }
  return {
    note: () => {
      const list = listOf(store.find(sessionId)?.extension_data['todo.v0'])
      return isBlank(list) ? '' : `Current tasks and notes:\n${list}` // M20
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
  if (!/^\d+$/.test(text)) return defaultMaxCharacters
  return Number(text) === 0 ? Infinity : Number(text)
}
