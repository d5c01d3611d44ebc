import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ChatApp, eventLine } from '../../testing/chat-app.ts'
import { mcpServer } from '../../testing/programs.ts'
import { chatStream, wantsStream } from '../../testing/upstream.ts'

const scripted = { type: 'stdio', ...mcpServer }

/** A chat with these platform extensions. */
async function withPlatform(...names: string[]): Promise<{ app: ChatApp; id: string }> {
  const app = await ChatApp.open({ PATH: process.env.PATH ?? '' }, { directory: '/' })
  onTestFinished(() => app.app.stop())
  const id = await app.chat()
  for (const name of names) await add(app, id, { type: 'platform', name, description: null })
  return { app, id }
}

async function add(app: ChatApp, id: string, config: object): Promise<void> {
  expect(await app.call('POST', '/agent/add_extension', { session_id: id, config })).toMatchObject({ status: 200, text: '' })
}

/** What a tool returns: a text, or the result if it is anything else. */
async function call(app: ChatApp, id: string, name: string, input: object): Promise<unknown> {
  app.upstream
    .answers(chatStream({ calls: [{ id: 'c', name, input: JSON.stringify(input) }] }), wantsStream)
    .answers(chatStream({ texts: ['ok'] }), wantsStream)
  const events = await app.hear(id, 'go')
  const item = events.flatMap((event) => (event.type === 'Message' ? event.message.content : [])).find(({ type }) => type === 'toolResponse')
  if (item?.type !== 'toolResponse') throw new Error(events.map(eventLine).join('; '))
  const result = item.toolResult
  if (result.status === 'error') return result
  const [only, ...others] = result.value
  return only?.type === 'text' && others.length === 0 ? only.text : result.value
}

async function toolNames(app: ChatApp, id: string, key: string): Promise<string[]> {
  const tools = JSON.parse((await app.get(`/agent/tools?session_id=${id}&extension_name=${key}`)).text) as { name: string }[]
  return tools.map(({ name }) => name)
}

describe('a platform extension (X26)', () => {
  it('reports failures as a text, and does not know tools of other extensions', async () => {
    const { app, id } = await withPlatform('todo')
    expect(await call(app, id, 'todo__todo_write', { content: null })).toBe('Error: Missing required parameter: content')
    expect(await call(app, id, 'todo__todo_write', { content: 1 })).toBe('Error: Invalid argument: content')
    expect(await call(app, id, 'todo__read', {})).toEqual({ status: 'error', error: '-32603: -32002: todo__read' })
  })

  it('is loaded with a session when the settings have other extensions and do not mention it (G25)', async () => {
    const app = await ChatApp.open({ GOOSE_PROVIDER: 'openai', GOOSE_MODEL: 'gpt-4o' })
    const id = await app.start()
    const settings = 'extensions:\n  x: nonsense\n  todo: {enabled: false, type: platform, name: todo, description: null}\n'
    writeFileSync(join(app.root, 'config', 'config.yaml'), settings)
    expect(await app.call('POST', '/agent/resume', { session_id: id, load_model_and_extensions: true })).toMatchObject({ status: 200 })
    expect(await toolNames(app, id, 'todo')).toEqual([])
    expect(await toolNames(app, id, 'chatrecall')).toEqual(['chatrecall__chatrecall'])
    expect(await toolNames(app, id, 'extensionmanager')).toEqual([
      'extensionmanager__manage_extensions', 'extensionmanager__search_available_extensions',
    ])
  })
})

describe('chatrecall (X27 to X29)', () => {
  async function imported(app: ChatApp, fields: object, ...texts: [created: number, text: string, visible?: boolean][]): Promise<string> {
    const conversation = texts.map(([created, text, userVisible = true]) => ({
      role: 'user', created, content: [{ type: 'text', text }], metadata: { userVisible, agentVisible: true },
    }))
    const times = { created_at: '2025-12-10T16:59:31Z', updated_at: '2025-12-10T16:59:31Z' }
    const session = { id: 'x', working_dir: '/a', name: 'N', extension_data: {}, message_count: 0, ...times, conversation, ...fields }
    const answer = await app.call('POST', '/sessions/import', { json: JSON.stringify(session) })
    return (JSON.parse(answer.text) as { id: string }).id
  }

  it('shows the beginning and the end of a session', async () => {
    const { app, id } = await withPlatform('chatrecall')
    const hidden: [number, string, boolean] = [0, 'hidden', false]
    const long = await imported(app, { name: 'Long' }, [1, 'a'], hidden, [2, ' '], [3, 'b'], [4, 'c'], [5, 'd'], [6, 'e'], [7, 'f'], [8, 'g'])
    expect(await call(app, id, 'chatrecall__chatrecall', { session_id: long, query: 1 })).toBe(
      `Session: Long (ID: ${long})\nWorking Dir: /a\nTotal Messages: 7\n\n--- First Few Messages ---\n\n1. [User] a\n\n2. [User] b\n\n3. [User] c\n\n` +
        '--- Last Few Messages ---\n\n5. [User] e\n\n6. [User] f\n\n7. [User] g\n\n',
    )
    const short = await imported(app, {}, [1, 'a'], [2, 'b'], [3, 'c'], [4, '🔒'.repeat(1001)])
    expect(await call(app, id, 'chatrecall__chatrecall', { session_id: short })).toContain(
      `3. [User] c\n\n--- Last Few Messages ---\n\n2. [User] b\n\n3. [User] c\n\n4. [User] ${'🔒'.repeat(997)}...\n\n`,
    )
    expect(await call(app, id, 'chatrecall__chatrecall', { session_id: 'nobody' })).toBe('Error: Failed to load session: Session not found')
  })

  it('finds messages of other sessions, newest first', async () => {
    const { app, id } = await withPlatform('chatrecall')
    const one = await imported(app, { name: 'One' }, [100, 'an Apple'], [200, 'apple pie'], [300, 'apple', false])
    const two = await imported(app, { name: 'Two', session_type: 'scheduled' }, [400, 'a pear'])
    await imported(app, { session_type: 'hidden' }, [500, 'apple'])
    const found = (input: object): Promise<unknown> => call(app, id, 'chatrecall__chatrecall', input)
    const head = (count: number, sessions: number, query: string): string =>
      `Found ${count} matching message(s) across ${sessions} session(s) for query: '${query}'\n\n`
    const session = (title: string, count: string): string =>
      `${title})\n   Working Dir: /a\n   Last Activity: 1970-01-01\n   Showing ${count} total message(s) in session:\n\n`
    const pear = `${session(`1. Session: Two (ID: ${two}`, '1 of 1')}   1.1 [user]\n   a pear\n\n`
    const pie = (shown: string): string => `${session(`2. Session: One (ID: ${one}`, shown)}   2.1 [user]\n   apple pie\n\n`
    expect(await found({ query: ' PEAR\tapple ' })).toBe(`${head(3, 2, ' PEAR\tapple ')}${pear}${pie('2 of 3')}   2.2 [user]\n   an Apple\n\n`)
    expect(await found({ query: 'apple pear', limit: 2 })).toBe(head(2, 2, 'apple pear') + pear + pie('1 of 3'))
    expect(await found({ query: 'pear', limit: 1e20 })).toBe(head(1, 1, 'pear') + pear)
    expect(await found({ query: 'pear', limit: 0, after_date: 'x', before_date: 5 })).toBe(head(1, 1, 'pear') + pear)
    const dates = { after_date: '1970-01-01T00:01:40.5Z', before_date: '1970-01-01T01:01:40+01:00' }
    expect(await found({ query: 'apple', ...dates })).toContain('   1.1 [user]\n   an Apple\n\n')
    expect(await found({ query: 'go' })).toBe("No results found for query: 'go'") // the only match is its own session
  })

  it.each([
    [{}, 'Error: Missing required parameter: query or session_id'],
    [{ query: ' ', limit: 'x' }, 'Error: Missing required parameter: query or session_id'],
    [{ query: 'a', limit: 1.5 }, 'Error: Invalid argument: limit'],
    [{ session_id: 1 }, 'Error: Invalid argument: session_id'],
  ])('rejects %j', async (input, answer) => {
    const { app, id } = await withPlatform('chatrecall')
    expect(await call(app, id, 'chatrecall__chatrecall', input)).toBe(answer)
  })
})

describe('extensionmanager (X32 to X35)', () => {
  const manage = 'extensionmanager__manage_extensions'

  it('finds, enables and disables extensions of the settings', async () => {
    const { app, id } = await withPlatform('Extension Manager')
    const settings = [
      'extensions:',
      '  todo: {enabled: false, type: platform, name: todo, description: "A  list"}',
      '  bad: {enabled: false, type: stdio, name: Bad One, description: null, cmd: /nowhere, args: []}',
      '  maps: {enabled: true, type: frontend, name: maps, description: null, tools: []}',
    ]
    writeFileSync(join(app.root, 'config', 'config.yaml'), settings.join('\n'))
    expect(await call(app, id, 'extensionmanager__search_available_extensions', {})).toBe(
      'Extensions available to enable:\n- Bad One - \n- chatrecall - Finds what was said in other sessions.\n- maps - \n- skills - Loads skills.\n- todo - A list\n' +
        '\n\nExtensions available to disable:\n- Extension Manager\n',
    )
    expect(await call(app, id, manage, { action: 'enable', extension_name: 'TODO' })).toBe("The extension 'TODO' has been installed successfully")
    expect(await toolNames(app, id, 'todo')).toEqual(['todo__todo_write'])
    expect((await app.session(id)).extension_data).toEqual({
      'enabled_extensions.v0': {
        extensions: [
          { type: 'platform', name: 'Extension Manager', description: '', bundled: null, available_tools: [] },
          { type: 'platform', name: 'todo', description: 'A  list', bundled: null, available_tools: [] },
        ],
      },
    })
    expect(await call(app, id, manage, { action: 'enable', extension_name: 'todo' })).toBe("The extension 'todo' has been installed successfully")
    expect(await call(app, id, manage, { action: 'enable', extension_name: 'nobody' })).toBe(
      "Error: Extension operation failed: Extension 'nobody' not found. Please check the extension name and try again.",
    )
    expect(await call(app, id, manage, { action: 'enable', extension_name: 'Bad One' })).toBe('Error: Extension operation failed: Command not found: /nowhere')
    expect(await call(app, id, manage, { action: 'enable', extension_name: 'maps' })).toBe("The extension 'maps' has been installed successfully")
    expect(await call(app, id, manage, { action: 'disable', extension_name: 'maps' })).toBe('Error: Extension operation failed: Extension cannot be disabled: maps')
    expect(await call(app, id, manage, { action: 'disable', extension_name: 'todo' })).toBe("The extension 'todo' has been disabled successfully")
    expect(await toolNames(app, id, 'todo')).toEqual([])
    expect(await call(app, id, manage, { action: 'disable', extension_name: 'todo' })).toBe("The extension 'todo' has been disabled successfully")
    expect(await call(app, id, manage, { action: 'x', extension_name: 'todo' })).toBe('Error: Invalid argument: action')
    expect(await call(app, id, manage, { extension_name: 'todo' })).toBe('Error: Missing required parameter: action')
    expect(await call(app, id, manage, { action: 'enable' })).toBe('Error: Missing required parameter: extension_name')
  })

  it('has nothing to enable without settings', async () => {
    const { app, id } = await withPlatform('extensionmanager')
    expect(await call(app, id, 'extensionmanager__search_available_extensions', {})).toBe(
      'No extensions available to enable.\n\n\nExtensions available to disable:\n- extensionmanager\n',
    )
  })

  it('lists and reads resources while some extension has them', async () => {
    const { app, id } = await withPlatform('extensionmanager', 'todo')
    const [list, read] = ['extensionmanager__list_resources', 'extensionmanager__read_resource']
    expect(await toolNames(app, id, 'extensionmanager')).not.toContain(list)
    expect(await call(app, id, list, {})).toBe('No resources.')
    await add(app, id, { ...scripted, name: 'My Ext' })
    expect(await toolNames(app, id, 'extensionmanager')).toEqual(expect.arrayContaining([list, read]))
    expect(await call(app, id, list, { extension_name: null })).toBe('myext - A, uri: (test://a)\nmyext - B, uri: (test://b)')
    expect(await call(app, id, list, { extension_name: 'todo' })).toBe('No resources.')
    expect(await call(app, id, list, { extension_name: 'nobody' })).toBe('Error: Extension not found: nobody')
    const contents = [
      { type: 'text', text: 'test://a\n\nthe text' },
      { type: 'text', text: 'test://a\n\n[binary]' },
    ]
    expect(await call(app, id, read, { uri: 'test://a' })).toEqual(contents)
    expect(await call(app, id, read, { uri: 'test://a', extension_name: 'My Ext' })).toEqual(contents)
    expect(await call(app, id, read, { uri: 'test://x' })).toBe('Error: Resource not found: test://x')
    expect(await call(app, id, read, { uri: 'test://x', extension_name: 'myext' })).toBe('Error: Cannot read test://x: -32002: no such thing')
    expect(await call(app, id, read, { uri: 'test://a', extension_name: 'todo' })).toBe('Error: Resource not found: test://a')
    expect(await call(app, id, read, {})).toBe('Error: Missing required parameter: uri')
    expect(await call(app, id, 'myext__end', {})).toMatchObject({ status: 'error' })
    expect(await call(app, id, list, {})).toBe('myext: -32603: Connection closed')
  })
})
