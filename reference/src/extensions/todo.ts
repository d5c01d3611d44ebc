import { isObject } from '../json/is-object.ts'
import type { JsonObject } from '../json/shape.ts'
import type { Result } from '../message/result.ts'
import type { ToolContent } from '../message/tool-content.ts'
import type { Settings } from '../settings/settings.ts'
import type { SessionStore } from '../store/session-store.ts'
import type { McpTool } from './config.ts'
import type { Connection } from './connection.ts'

const defaultMaxCharacters = 50_000

const todoWrite: McpTool = {
  name: 'todo_write',
  description: 'Replaces the todo list of this session.',
  inputSchema: { type: 'object', properties: { content: { type: 'string', description: 'The whole list' } }, required: ['content'] },
}

/** The todo list of a session, which is kept with it (GA 18.3). */
export class TodoExtension implements Connection {
  readonly instructions = ''
  readonly #sessionId: string
  readonly #store: SessionStore
  readonly #settings: Settings

  constructor(sessionId: string, store: SessionStore, settings: Settings) {
    this.#sessionId = sessionId
    this.#store = store
    this.#settings = settings
  }

  tools(): Promise<McpTool[]> {
    return Promise.resolve([todoWrite])
  }

  call(tool: string, args: JsonObject): Promise<Result<ToolContent[]>> {
    return Promise.resolve(this.#write(tool, args.content))
  }

  /** M20. */
  note(): string {
    const list = this.#list()
    return list.trim() === '' ? '' : `Todo list:\n${list}`
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  #write(tool: string, content: unknown): Result<ToolContent[]> {
    if (tool !== todoWrite.name) return { status: 'error', error: `-32603: -32002: todo__${tool}` }
    if (typeof content !== 'string') return said(`${content === undefined || content === null ? 'Missing' : 'Invalid'} argument: content`)
    const max = this.#maxCharacters()
    const count = Array.from(content).length
    if (count > max) return said(`The todo list is too long: ${count} characters, at most ${max}.`)
    const session = this.#store.find(this.#sessionId)
    if (session === undefined) return { status: 'error', error: '-32603: Session not found' }
    this.#store.update(this.#sessionId, { extension_data: { ...session.extension_data, 'todo.v0': { content } } })
    return said('The todo list was written.')
  }

  #list(): string {
    const kept = this.#store.find(this.#sessionId)?.extension_data['todo.v0']
    const content = isObject(kept) ? kept.content : kept
    return typeof content === 'string' ? content : ''
  }

  #maxCharacters(): number {
    const text = this.#settings.variable('GOOSE_TODO_MAX_CHARS') ?? ''
    return /^\d+$/.test(text) && Number(text) >= 1 ? Number(text) : defaultMaxCharacters
  }
}

function said(text: string): Result<ToolContent[]> {
  return { status: 'success', value: [{ type: 'text', text }] }
}
