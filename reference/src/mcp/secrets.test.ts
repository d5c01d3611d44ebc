import { createServer, type ServerResponse } from 'node:http'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { jsonLogger } from '../log.ts'
import { ChatApp } from '../testing/chat-app.ts'
import { chatStream, wantsStream } from '../testing/upstream.ts'
import { onLoopback } from '../testing/on-loopback.ts'

/** A text that appears in everything that must stay secret. */
const secret = 's3cret'

/** Starts a server on loopback, whose responses `answer` writes. Returns its authority. */
async function serve(answer: (response: ServerResponse, id: number, method: string) => void): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { id = -1, method = '' } = JSON.parse(Buffer.concat(chunks).toString() || '{}') as { id?: number; method?: string }
      answer(response, id, method)
    })
  })
  return new URL(await onLoopback(server)).host
}

/** Responds with a 404 that repeats the secret parts of the URL, as some servers do. */
function refuse(response: ServerResponse): void {
  response.writeHead(404, { 'X-Path': secret }).end(`Cannot POST /${secret}?key=${secret}`)
}

function json(response: ServerResponse, id: number, rest: string): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${id},${rest}}`)
}

const error = `"error":{"code":-32000,"message":"no ${secret} here","data":"${secret}"}`
const hello = '"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}'
const closed = '127.0.0.1:9'

function remote(authority: string, more: object = {}): object {
  const uri = `http://${secret}:${secret}@${authority}/${secret}?key=${secret}#${secret}`
  return { type: 'streamable_http', name: 'x', description: 'd', uri, envs: { KEY: secret }, headers: { Authorization: 'Bearer $KEY' }, ...more }
}

/** The lines of the log, as they are written. */
function logOf(app: ChatApp): string {
  const lines: string[] = []
  const logger = jsonLogger((line) => lines.push(line))
  for (const { level, message, fields } of app.logs) logger[level](message, fields)
  return lines.join('')
}

async function enabled(config: object): Promise<{ app: ChatApp; id: string }> {
  const app = await ChatApp.open({ PATH: process.env.PATH ?? '' }, { directory: '/' })
  onTestFinished(() => app.app.stop())
  const id = await app.chat()
  writeFileSync(join(app.root, 'config/config.yaml'), JSON.stringify({ extensions: { x: { enabled: true, ...config } } }))
  return { app, id }
}

async function resume({ app, id }: { app: ChatApp; id: string }): Promise<string> {
  await app.call('POST', '/agent/resume', { session_id: id, load_model_and_extensions: true })
  return logOf(app)
}

describe('the secrets in the config of an extension', () => {
  it.each<[what: string, config: () => Promise<object> | object, log: string]>([
    ['there is no listener', () => remote(closed), `Cannot connect to http://${closed}\\n`],
    ['there is no listener, over SSE', () => remote(closed, { type: 'sse' }), `Cannot connect to http://${closed}\\n`],
    ['the server rejects the request', async () => remote(await serve(refuse)), ': 404 Not Found'],
    ['the server rejects the request, over SSE', async () => remote(await serve(refuse), { type: 'sse' }), ': 404 Not Found'],
    ['the server answers with an error', async () => remote(await serve((response, id) => { json(response, id, error) })), 'ExtensionError, caused by McpError -32000'],
    ['the server speaks something else', async () => remote(await serve((response, id) => { json(response, id, `"result":"${secret}"`) })), 'Extension does not speak MCP'],
    ['the URL is invalid', () => remote(closed, { uri: `${secret}://${secret}` }), 'Invalid URL'],
    ['a header field cannot be sent', () => remote(closed, { headers: { A: `${secret}\n${secret}` } }), 'TypeError'],
    ['a header field has no name', () => remote(closed, { headers: { [`${secret} ${secret}`]: 'x' } }), 'TypeError'],
    ['a variable cannot be set', () => ({ type: 'stdio', name: 'x', cmd: 'true', args: [], envs: { A: `${secret}\0` } }), 'Command cannot be started: true'],
    ['an argument cannot be passed', () => ({ type: 'stdio', name: 'x', cmd: 'true', args: [`${secret}\0`] }), 'ERR_INVALID_ARG_VALUE'],
  ])('are not logged when %s', async (_, config, log) => {
    const chat = await enabled(await config())
    const logged = await resume(chat)
    expect(logged).toContain('extension not added')
    expect(logged).toContain(log)
    expect(logged).not.toContain(secret)
  })

  it.each<[what: string, answer: (response: ServerResponse, id: number) => void, log: string]>([
    ['rejects the request', refuse, 'Error 404'],
    ['answers with an error', (response, id) => { json(response, id, error) }, 'McpError -32000'],
    ['answers with something else', (response, id) => { json(response, id, `"result":{"tools":"${secret}"}`) }, 'ShapeError'],
  ])('are not logged when the server asked for its tools %s', async (_, answer, log) => {
    const authority = await serve((response, id, method) => {
      if (method === 'initialize') json(response, id, hello)
      else if (method === 'tools/list') answer(response, id)
      else response.writeHead(method === '' ? 405 : 202).end()
    })
    const { app, id } = await enabled({})
    expect((await app.call('POST', '/agent/add_extension', { session_id: id, config: remote(authority) })).status).toBe(200)
    await app.get(`/agent/tools?session_id=${id}`)
    await app.hear(id, 'go')
    const logged = logOf(app)
    expect(logged.match(/tools not listed/g)).toHaveLength(2)
    expect(logged).toContain(log)
    expect(logged).not.toContain(secret)
  })

  it.each<[config: object, text: string]>([
    [remote(closed), `Extension operation failed: Cannot connect to http://${closed}`],
    [remote(closed, { uri: secret }), 'Extension operation failed: Invalid URL: http:// or https:// with a host is needed'],
  ])('are not shown to a model that enables it: %#', async (config, text) => {
    const { app, id } = await enabled(config)
    await app.call('POST', '/agent/add_extension', { session_id: id, config: { type: 'platform', name: 'Extension Manager', description: null } })
    const input = JSON.stringify({ action: 'enable', extension_name: 'x' })
    app.upstream
      .answers(chatStream({ calls: [{ id: 'c0', name: 'extensionmanager__manage_extensions', input }] }), wantsStream)
      .answers(chatStream({ id: 'done', texts: ['ok'] }), wantsStream)
    await app.hear(id, 'go')
    const told = JSON.stringify(app.upstream.streamed)
    expect(told).toContain(text)
    expect(told + logOf(app)).not.toContain(secret)
  })

  it.each(['x: "s3cret', 'x: *s3cret', 'a: b: s3cret', '- "\\s3cret"', 'x: [1] s3cret'])('are not logged when the file of secrets is not YAML: %s', async (text) => {
    const chat = await enabled(remote(closed, { env_keys: ['OTHER'] }))
    writeFileSync(join(chat.app.root, 'config/secrets.yaml'), text)
    const logged = await resume(chat)
    expect(logged).toContain('not YAML')
    expect(logged).not.toContain(secret)
  })
})
