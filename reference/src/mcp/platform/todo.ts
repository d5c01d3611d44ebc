import { isObject } from '../../wire/json/is-object.ts'
import { withMember } from '../../wire/json/ordered.ts'
import type { Settings } from '../../settings/settings.ts'
import type { SessionHandle } from '../../store/session-handle.ts'
import { isBlank } from '../../text/white-space.ts'
import { ToolError } from './arguments.ts'
import type { McpTool } from '../../domain/extension/config.ts'
import type { PlatformExtension } from './platform-connection.ts'

const defaultMaxCharacters = 50_000

const todoWrite: McpTool = {
  name: 'todo_write',
  description: 'Replaces the todo list of this session.',
  inputSchema: { type: 'object', properties: { content: { type: 'string', description: 'The whole list' } }, required: ['content'] },
}

/** The todo list of a session, which is stored in the session (X21). */
export function todo(session: SessionHandle, settings: Settings): PlatformExtension {
  const write = (content: string): string => {
    const max = maxCharacters(settings)
    const count = Array.from(content).length
    if (count > max) throw new ToolError(`Todo list too large: ${count} chars (max: ${max})`)
    const before = session.find()
    if (before === undefined) throw new ToolError('Session not found')
    session.update({ extension_data: withMember(before.extension_data, 'todo.v0', { content }) })
    return `Updated (${count} chars)`
  }
  return {
    note: () => {
      const list = listOf(session.find()?.extension_data['todo.v0'])
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
