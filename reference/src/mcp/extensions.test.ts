import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mcpServer, serverCommand } from '../testing/programs.ts'
import type { Answer } from '../testing/test-app.ts'
import { ChatApp, eventLine } from '../testing/chat-app.ts'
import { scriptedMcpServer } from '../testing/mcp-server.ts'
import { chatStream, wantsStream } from '../testing/upstream.ts'
import { onLoopback } from '../testing/on-loopback.ts'

/** The PATH for extensions in tests, which must find bash. */
const searched = process.env.PATH ?? ''
const stdio = { type: 'stdio', name: 'My Ext', ...mcpServer }

async function add(app: ChatApp, id: string, config: object): Promise<Answer> {
  return app.call('POST', '/agent/add_extension', { session_id: id, config })
}

/** A chat with the scripted extension, whose processes end with the test. */
async function withExtension(config: object = stdio, environment: Record<string, string> = {}): Promise<{ app: ChatApp; id: string }> {
  const app = await ChatApp.open({ PATH: searched, ...environment }, { directory: '/' })
  onTestFinished(() => app.app.stop())
  const id = await app.chat()
  const answer = await add(app, id, config)
  expect([answer.status, answer.text]).toEqual([200, ''])
  return { app, id }
}

/** Scripts the model: it calls these tools, and then accepts their results. */
function script(app: ChatApp, ...calls: [name: string, input: object][]): void {
  const made = calls.map(([name, input], i) => ({ id: `c${i}`, name, input: JSON.stringify(input) }))
  app.upstream.answers(chatStream({ calls: made }), wantsStream).answers(chatStream({ id: 'done', texts: ['ok'] }), wantsStream)
}

async function call(app: ChatApp, id: string, ...calls: [name: string, input: object][]): Promise<string[]> {
  script(app, ...calls)
  return (await app.hear(id, 'go')).map(eventLine).slice(1, -2)
}

function result(text: string): string {
  return `user: result c0 {"status":"success","value":[{"type":"text","text":${JSON.stringify(text)}}]}`
}

describe('an extension over stdio (GA 6.7, 7.8)', () => {
  it('offers its tools under its key, runs them, and passes on their notifications', async () => {
    const { app, id } = await withExtension()
    const listed = JSON.parse((await app.get(`/agent/tools?session_id=${id}&extension_name=myext`)).text) as { name: string; parameters: string[] }[]
    expect(listed.map(({ name }) => name).slice(0, 3)).toEqual(['myext__ask', 'myext__big', 'myext__complain'])
    expect(listed[0]?.parameters).toEqual(['n', 'text'])
    expect(await call(app, id, ['myext__echo', { n: '5', text: '5' }])).toEqual([result('{"n":5,"text":"5"}')])
    expect(app.upstream.streamed[0]?.messages[0]?.content).toContain('\n\n# Extension myext\nUse these tools in tests.')
    expect(app.upstream.streamed[0]?.tools?.map((tool) => tool.function?.name)).toContain('myext__hang')

    const told = await call(app, id, ['myext__tell', {}])
    expect(told).toEqual(['Notification c0 notifications/message', 'Notification c0 notifications/progress', result('told')])
    expect(await call(app, id, ['myext__fail', {}])).toEqual(['user: result c0 {"status":"error","error":"-32602: bad input ({\\"n\\":1})"}'])
    expect(await call(app, id, ['myext__complain', {}])).toEqual([result('it did not work')])
    const [big = ''] = await call(app, id, ['myext__big', {}])
    const path = /It is in the file (\S+)\."/.exec(big)?.[1] ?? ''
    expect(readFileSync(path, 'utf8')).toHaveLength(200_001)
    rmSync(path)
    expect(await call(app, id, ['myext__end', {}])).toEqual(['user: result c0 {"status":"error","error":"-32603: Connection closed"}'])
    expect(await app.call('POST', '/agent/remove_extension', { session_id: id, name: 'MYEXT' })).toMatchObject({ status: 200, text: '' })
    expect(JSON.parse((await app.get(`/agent/tools?session_id=${id}&extension_name=myext`)).text)).toEqual([])
    expect(await call(app, id, ['myext__echo', {}])).toEqual(['user: result c0 {"status":"error","error":"-32603: -32002: myext__echo"}'])
  })

  it('is still connected after results that are not objects (X5)', async () => {
    const begin = '{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"x","version":"1"}}'
    const answer = (id: number, result: string): string => `read -r; echo '{"jsonrpc":"2.0","id":${id},"result":${result}}'`
    const results = ['[1]', 'null', '"text"', '{"content":null}'].map((result, i) => answer(i + 1, result))
    const server = [answer(0, begin), 'read -r', ...results, 'read -r'].join('; ')
    const { app, id } = await withExtension({ type: 'stdio', name: 'x', cmd: 'bash', args: ['-c', server] })
    const unreadable = 'user: result c0 {"status":"error","error":"-32603: The answer of the tool cannot be read"}'
    for (let i = 0; i < 3; i++) expect(await call(app, id, ['x__any', {}])).toEqual([unreadable])
    expect(await call(app, id, ['x__any', {}])).toEqual(['user: result c0 {"status":"success","value":[]}'])
  })

  it('asks the user at once, and gets the answer from a second reply (GA 8.3)', async () => {
    const { app, id } = await withExtension()
    script(app, ['myext__ask', {}])
    const reply = await app.say(id, 'go')
    await reply.next()
    const question = await reply.next()
    expect(question).toMatchObject({
      message: {
        id: null,
        metadata: { userVisible: true, agentVisible: true },
        content: [{ data: { actionType: 'elicitation', message: 'Your name?', requested_schema: { properties: { name: { type: 'string' } } } } }],
      },
    })
    const item = question?.type === 'Message' ? question.message.content[0] : undefined
    const asked = item?.type === 'actionRequired' ? item.data.id : ''
    const response = (to: string): unknown => ({
      type: 'actionRequired', data: { actionType: 'elicitationResponse', id: to, user_data: { name: 'Ann' } },
    })
    expect((await app.hear(id, response('other'))).map(eventLine)).toEqual([
      'assistant: Failed to submit elicitation response: Request not found: other', 'Finish',
    ])
    expect((await app.hear(id, response(asked))).map(eventLine)).toEqual(['Finish'])
    expect((await reply.rest()).map(eventLine)).toEqual([result('{"action":"accept","content":{"name":"Ann"}}'), 'assistant: ok', 'Finish'])
    expect((await app.conversation(id)).slice(0, 3)).toEqual(['user: go', `assistant: elicitation ${asked}`, `user: elicitationResponse ${asked}`])
  })

  it('is logged with its last line of output, without its secrets, when it ends by itself (S48)', async () => {
    const begin = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}'
    const server = `read -r; echo '${begin}'; read -r; read -r; echo first >&2; echo "no $KEY" >&2; exit 1`
    const { app, id } = await withExtension({ type: 'stdio', name: 'Short', cmd: 'bash', args: ['-c', server], envs: { KEY: 'sesame' } })
    const ended = (): unknown[] => app.logs.filter(({ message }) => message === 'extension ended').map(({ fields }) => fields)
    await app.get(`/agent/tools?session_id=${id}`)
    expect(ended()).toEqual([{ session: id, extension: 'Short', lastWords: 'no ***' }])
    await add(app, id, stdio)
    await app.call('POST', '/agent/remove_extension', { session_id: id, name: stdio.name })
    expect(ended()).toHaveLength(1)
  })

  it('is not called in a session that was deleted (G29)', async () => {
    const { app, id } = await withExtension()
    app.upstream.answers(async (response, asked) => {
      await app.fetch(`/sessions/${id}`, { method: 'DELETE' })
      await chatStream({ calls: [{ id: 'c0', name: 'myext__ask', input: '{}' }] })(response, asked)
    }, wantsStream)
    expect((await app.hear(id, 'go')).map(({ type }) => type)).toEqual(['Finish'])
    expect(app.upstream.streamed).toHaveLength(1)
  })

  it('has its own variables, the secrets that it names, and only the tools that are available', async () => {
    const secret = { ...stdio, envs: { A: 'own' }, env_keys: ['A', 'SECRET'], available_tools: ['env'] }
    const { app, id } = await withExtension(secret, { SECRET: 'sesame' })
    expect(await call(app, id, ['myext__env', { text: 'A' }])).toEqual([result('own')])
    expect(await call(app, id, ['myext__env', { text: 'SECRET' }])).toEqual([result('sesame')])
    expect(await call(app, id, ['myext__echo', {}])).toEqual(['user: result c0 {"status":"error","error":"-32603: -32002: Tool not available: myext__echo"}'])
    expect(app.upstream.streamed[0]?.tools?.map((tool) => tool.function?.name).filter((name) => name?.startsWith('myext'))).toEqual(['myext__env'])
  })

  it('stops a tool when the client disconnects, and saves nothing of it', async () => {
    const { app, id } = await withExtension()
    script(app, ['myext__hang', {}])
    const reply = await app.say(id, 'go')
    await reply.next()
    await reply.events.close()
    expect(await app.conversation(id)).toEqual(['user: go'])
  })

})

describe('an extension over HTTP', () => {
  it('may use streamable HTTP, with variables in its header fields', async () => {
    const seen: (string | undefined)[] = []
    const url = await serve(async (request, response) => {
      seen.push(request.headers.authorization)
      const transport = new StreamableHTTPServerTransport({})
      response.on('close', () => void transport.close())
      await scriptedMcpServer().connect(transport)
      await transport.handleRequest(request, response)
    })
    const config = { type: 'streamable_http', name: 'web', description: null, uri: `${url}/mcp`, envs: { KEY: 'k' }, headers: { Authorization: '${KEY} $KEY $NONE-' } }
    const { app, id } = await withExtension(config)
    expect(await call(app, id, ['web__echo', { text: 'x' }])).toEqual([result('{"text":"x"}')])
    expect(new Set(seen)).toEqual(new Set(['k k -']))
  })

  it('may use SSE', async () => {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- it is what is tested
    let transport: SSEServerTransport | undefined
    const url = await serve(async (request, response) => {
      if (request.method === 'GET') {
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- as above
        transport = new SSEServerTransport('/post', response)
        await scriptedMcpServer().connect(transport)
      } else {
        await transport?.handlePostMessage(request, response)
      }
    })
    const { app, id } = await withExtension({ type: 'sse', name: 'web', uri: `${url}/sse` })
    expect(await call(app, id, ['web__echo', { text: 'x' }])).toEqual([result('{"text":"x"}')])
  })
})

/** Starts a server on loopback, and returns its URL. */
async function serve(handler: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Promise<string> {
  const server = createServer((request, response) => void handler(request, response))
  return onLoopback(server)
}

describe('an extension that cannot be added', () => {
  it.each([
    [{ type: 'stdio', name: ' ', cmd: '/nonexistent', args: [] }, 'Extension has no name'],
    [{ type: 'stdio', name: 'x', cmd: '/nonexistent', args: [] }, 'Command not found: /nonexistent'],
    [{ type: 'stdio', name: 'x', cmd: 'true', args: [] }, 'Connection closed'],
    [{ type: 'stdio', name: 'x', cmd: 'bash', args: ['-c', 'echo nonsense; sleep 9'] }, 'Extension does not speak MCP'],
    [{ type: 'stdio', name: 'x', cmd: 'bash', args: ['-c', 'echo; read -r; exit 1'] }, 'Connection closed'],
    [{ type: 'stdio', name: 'x', cmd: 'bash', args: ['-c', `read -r; echo '{"jsonrpc":"2.0","id":0,"result":[1]}'; sleep 9`] }, 'Extension does not speak MCP'],
    [{ type: 'stdio', name: 'x', cmd: 'bash', args: ['-c', 'head -c 16777217 /dev/zero; sleep 9'] }, 'Extension does not speak MCP'],
    [{ ...stdio, name: 'x', env_keys: ['NOT_THERE'] }, "invalid config: Failed to fetch secret 'NOT_THERE' from config: Configuration value not found: NOT_THERE"],
    [{ type: 'sse', name: 'x', uri: 'nonsense', env_keys: ['NOT_THERE'] }, "invalid config: Failed to fetch secret 'NOT_THERE' from config: Configuration value not found: NOT_THERE"],
    [{ type: 'sse', name: 'x', uri: 'nonsense' }, 'Invalid URL: http:// or https:// with a host is needed'],
    [{ type: 'sse', name: 'x', uri: 'ftp://a/' }, 'Invalid URL: http:// or https:// with a host is needed'],
    [{ type: 'streamable_http', name: 'x', description: null, uri: 'http:///a' }, 'Invalid URL: http:// or https:// with a host is needed'],
    [{ type: 'streamable_http', name: 'x', description: null, uri: 'HTTP://me:word@LocalHost:9/path?query#end' }, 'Cannot connect to http://localhost:9'],
    [{ type: 'sse', name: 'x', uri: 'https://LocalHost:443/path?query' }, 'Cannot connect to https://localhost'],
    [{ type: 'builtin', name: 'nobody' }, 'Unknown builtin extension: nobody'],
    [{ type: 'builtin', name: 'memory' }, 'Extension is not built on this server: memory'],
    [{ type: 'platform', name: 'nobody', description: null }, 'Unknown platform extension: nobody'],
  ])('%j', async (config, reason) => {
    const app = await ChatApp.open({ PATH: searched }, { directory: '/' })
    const answer = await add(app, 'x', config)
    expect([answer.status, JSON.parse(answer.text)]).toEqual([500, { message: `Failed to add extension: ${reason}` }])
  })
})

describe('the extensions of an agent (X12)', () => {
  it('are at most a hundred, including those that are being connected', async () => {
    const waiting: ServerResponse[] = []
    let allWait = (): void => undefined
    const asked = new Promise<void>((resolve) => (allWait = resolve))
    const url = await serve((_, response) => {
      if (waiting.push(response) === 99) allWait()
      return Promise.resolve()
    })
    const app = await ChatApp.open()
    const id = await app.start()
    const remote = (name: string): Promise<Answer> => add(app, id, { type: 'streamable_http', name, description: null, uri: url })
    const adding = Array.from({ length: 99 }, (_, i) => remote(`e${i}`))
    expect((await add(app, id, { type: 'frontend', name: 'f', description: null, tools: [] })).status).toBe(200)
    await asked
    expect((await remote('one more')).text).toBe('{"message":"Failed to add extension: Too many extensions"}')
    expect((await add(app, id, { type: 'frontend', name: 'g', description: null, tools: [] })).status).toBe(500)
    for (const response of waiting) response.writeHead(404).end()
    expect((await Promise.all(adding)).map(({ status }) => status)).toEqual(Array(99).fill(500))
    expect((await add(app, id, { type: 'frontend', name: 'g', description: null, tools: [] })).status).toBe(200)
  })
})

describe('a server over HTTP that rejects the connection', () => {
  it.each([401, 302, 500])('with %i is reported with its status', async (status) => {
    const url = await serve((request, response) => {
      request.resume()
      response.writeHead(status, { Location: '/elsewhere' }).end()
      return Promise.resolve()
    })
    const app = await ChatApp.open()
    for (const type of ['streamable_http', 'sse']) {
      const { text } = await add(app, 'x', { type, name: 'x', description: null, uri: url })
      expect(text).toMatch(new RegExp(`Failed to add extension: Cannot connect to ${url}: ${status} `))
    }
  })
})

describe('frontend tools (GA 7.9)', () => {
  it('are offered under their own names, and wait for the client, whatever the mode', async () => {
    const tools = [{ name: 'show_map', description: 'Shows a map', inputSchema: { type: 'object' } }]
    const { app, id } = await withExtension({ type: 'frontend', name: 'ui', description: null, tools, instructions: 'Show things.' }, { GOOSE_MODE: 'approve' })
    script(app, ['show_map', { n: 1 }])
    const reply = await app.say(id, 'go')
    expect(await reply.next()).toMatchObject({ message: { content: [] } })
    expect(await reply.next()).toMatchObject({
      message: { id: null, content: [{ type: 'frontendToolRequest', id: 'c0', toolCall: { status: 'success', value: { name: 'show_map', arguments: { n: 1 } } } }] },
    })
    await reply.events.close()
    expect(await app.conversation(id)).toEqual(['user: go'])
    expect(app.upstream.streamed[0]?.tools?.at(-1)?.function?.name).toBe('show_map')
    expect(app.upstream.streamed[0]?.messages[0]?.content).toContain('# Extension ui\nShow things.')
    expect((await app.get(`/agent/tools?session_id=${id}`)).text).not.toContain('show_map')
  })
})

describe('a tool with a name that providers reject (M70)', () => {
  it('is offered to no model, and a call of it is not the client\'s', async () => {
    const long = 'x'.repeat(65)
    const tools = ['x'.repeat(64), long, 'a.tool', 'a\n', ''].map((name) => ({ name, inputSchema: { type: 'object' } }))
    const { app, id } = await withExtension({ type: 'frontend', name: 'ui', description: null, tools })
    expect(await call(app, id, [long, {}])).toEqual([`user: result c0 {"status":"error","error":"-32603: -32002: ${long}"}`])
    const offered = app.upstream.streamed[0]?.tools?.map((tool) => tool.function?.name)
    expect(offered).toEqual(['dynamic_task__create_task', 'platform__manage_schedule', 'subagent__execute_task', 'x'.repeat(64)])
    expect(app.logs.filter(({ message }) => message === 'tools not offered')).toMatchObject([{ fields: { count: 4, first: long } }, {}])
  })
})

describe('the todo list (GA 18.3, M20)', () => {
  it('is stored with its session, and shown to the model', async () => {
    const { app, id } = await withExtension({ type: 'platform', name: 'todo', description: null }, { GOOSE_TODO_MAX_CHARS: '6' })
    expect(await call(app, id, ['todo__todo_write', { content: '- one\n' }])).toEqual([result('Updated (6 chars)')])
    expect((await app.session(id)).extension_data).toEqual({ 'todo.v0': { content: '- one\n' } })
    expect(JSON.stringify(app.upstream.streamed[1]?.messages)).toContain('Working directory: /w\\nCurrent tasks and notes:\\n- one\\n\\n</context>')
    expect(await call(app, id, ['todo__todo_write', { content: '- two..' }])).toEqual([
      result('Error: Todo list too large: 7 chars (max: 6)'),
    ])
    expect(await call(app, id, ['todo__todo_write', { content: null }])).toEqual([result('Error: Missing required parameter: content')])
    expect(await call(app, id, ['todo__todo_write', { content: 1 }])).toEqual([result('Error: Invalid argument: content')])
    expect(await call(app, id, ['todo__todo_read', {}])).toEqual(['user: result c0 {"status":"error","error":"-32603: -32002: todo__todo_read"}'])
  })
})

describe('POST /agent/resume (GA 6.2)', () => {
  it('adds the enabled extensions of the settings, also when there is no provider, and leaves out those that fail', async () => {
    const app = await ChatApp.open({}, { directory: '/' })
    onTestFinished(() => app.app.stop())
    const extensions = {
      one: { enabled: true, ...stdio, name: 'one' },
      two: { enabled: false, ...stdio, name: 'two' },
      broken: { enabled: true, type: 'stdio', name: 'broken', cmd: '/nonexistent', args: [] },
      malformed: { enabled: true },
    }
    writeFileSync(join(app.root, 'config/config.yaml'), JSON.stringify({ extensions }))
    const id = await app.start()
    expect(await app.call('POST', '/agent/resume', { session_id: id, load_model_and_extensions: true })).toMatchObject({
      status: 500, text: '{"message":"Could not configure agent: missing provider"}',
    })
    const names = (JSON.parse((await app.get(`/agent/tools?session_id=${id}`)).text) as { name: string }[]).map(({ name }) => name.split('__')[0])
    expect([...new Set(names)]).toEqual(['chatrecall', 'dynamic_task', 'extensionmanager', 'one', 'platform', 'subagent', 'todo'])
    expect(app.logs.filter(({ message }) => message === 'extension not added').map(({ fields }) => fields.extension)).toEqual(['broken'])
  })
})

describe('the builtin extension developer', () => {
  it('runs commands and edits files', async () => {
    const app = await ChatApp.open({ PATH: searched, GOOSE_SERVER__SECRET_KEY: 'sesame' }, { directory: '/', ownCommand: serverCommand })
    onTestFinished(() => app.app.stop())
    const id = await app.chat({ working_dir: app.root })
    expect(await add(app, id, { type: 'builtin', name: 'Developer' })).toMatchObject({ status: 200, text: '' })
    const path = join(app.root, 'a.txt')
    const edit = async (command: string, more: object = {}): Promise<string> =>
      (await call(app, id, ['developer__text_editor', { path, command, ...more }])).join('\n')
    const shell = async (command: string): Promise<string> => (await call(app, id, ['developer__shell', { command }])).join('\n')
    expect(await shell('pwd; echo "[$GOOSE_SERVER__SECRET_KEY]"; exit 3')).toContain(JSON.stringify(`/\n[]\n`))
    expect(await edit('write', { file_text: 'a\r\nb' })).toContain(`Successfully wrote to ${path}`)
    expect(await edit('str_replace', { old_str: 'a', new_str: 'A' })).toContain('has been edited')
    expect(readFileSync(path, 'utf8')).toBe('A\nb\n')
    expect(await edit('undo_edit')).toContain('Undid the last edit')
    expect(readFileSync(path, 'utf8')).toBe('a\nb\n')
    expect(await edit('fly')).toContain("-32602: Unknown command 'fly'")
  })
})
