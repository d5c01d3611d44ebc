import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import type { Authorization } from './authorization.ts'
import { HttpTransport } from './http-transport.ts'
import { McpConnection } from './mcp-connection.ts'
import { onLoopback } from '../../testing/on-loopback.ts'

/** A token that is renewed as a test wants, and the renewals that were asked for. */
class Token implements Authorization {
  token = '1'
  isDue = false
  readonly renewals: string[] = []
  readonly #works: boolean

  constructor({ works }: { works: boolean }) {
    this.#works = works
  }

  renew(token: string, isRejected: boolean): Promise<boolean> {
    this.renewals.push(`${token} ${isRejected ? 'rejected' : 'due'}`)
    if (this.#works) this.token = String(Number(this.token) + 1)
    return Promise.resolve(this.#works)
  }
}

/** An MCP server on loopback. `status` is that of a request; undefined stands for the usual one. */
async function serve(status: (line: string, token: string) => number | undefined): Promise<{ url: URL; asked: string[]; sessions: unknown[] }> {
  const [asked, sessions]: [string[], unknown[]] = [[], []]
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer) // no encoding is set, so chunks are bytes
    const text = Buffer.concat(chunks).toString()
    const { id, method } = (text === '' ? {} : JSON.parse(text)) as { id?: number; method?: string }
    const line = method ?? request.method ?? ''
    const token = request.headers.authorization?.replace('Bearer ', '') ?? 'none'
    asked.push(`${line} ${token}`)
    sessions.push(request.headers['mcp-session-id'])
    const given = status(line, token) ?? (line === 'GET' ? 405 : id === undefined ? 202 : 200)
    const hello = { protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'n', version: '1' } }
    response.writeHead(given, { 'Content-Type': 'application/json', 'Mcp-Session-Id': 's', ...(given === 401 && { 'WWW-Authenticate': 'Bearer' }) })
    response.end(given === 200 && id !== undefined ? JSON.stringify({ jsonrpc: '2.0', id, result: method === 'initialize' ? hello : { tools: [] } }) : '')
  }
  const server = createServer((request, response) => void answer(request, response))
  const origin = await onLoopback(server)
  return { url: new URL(`${origin}/mcp`), asked, sessions }
}

async function open(url: URL, token?: Token): Promise<McpConnection> {
  const transport = HttpTransport.streamable(url, { authorization: 'Basic YTpi', 'X-More': 'yes' }, token)
  const connection = await McpConnection.open(transport, { timeoutSeconds: 20, clientVersion: '1', origin: url.origin })
  onTestFinished(() => connection.close())
  return connection
}

describe('a connection with a token (X57, X58)', () => {
  it('renews a rejected token for its stream once, and then works without the stream', async () => {
    const token = new Token({ works: true })
    const { url, asked, sessions } = await serve((line) => (line === 'GET' ? 401 : undefined))
    const connection = await open(url, token)
    await eventually(() => { expect(asked.filter((line) => line.startsWith('GET'))).toEqual(['GET 1', 'GET 2']) })
    expect(await connection.tools()).toEqual([])
    expect(asked).toEqual(['initialize 1', 'notifications/initialized 1', 'GET 1', 'GET 2', 'tools/list 2'])
    expect(sessions).toEqual([undefined, 's', 's', 's', 's'])
    expect(token.renewals).toEqual(['1 rejected'])
  })

  it('sends a request twice at most', async () => {
    const token = new Token({ works: true })
    const { url, asked } = await serve((line) => (line === 'tools/list' ? 401 : undefined))
    const connection = await open(url, token)
    await expect(connection.tools()).rejects.toThrow('NotSignedInError')
    expect(asked.filter((line) => line.startsWith('tools/list'))).toEqual(['tools/list 1', 'tools/list 2'])
  })

  it('sends a due token as it is if it cannot be renewed, and then does not renew it again', async () => {
    const token = new Token({ works: false })
    const { url, asked } = await serve((line) => (line === 'tools/list' ? 401 : undefined))
    const connection = await open(url, token)
    await eventually(() => { expect(asked).toContain('GET 1') })
    token.isDue = true
    await expect(connection.tools()).rejects.toThrow('NotSignedInError')
    expect(asked.filter((line) => line.startsWith('tools/list'))).toEqual(['tools/list 1'])
    expect(token.renewals).toEqual(['1 due'])
  })

  it('neither renews for initialize nor for the end of its session', async () => {
    const token = new Token({ works: true })
    token.isDue = true
    const { url, asked } = await serve((line) => (line === 'initialize' || line === 'DELETE' ? undefined : 202))
    const connection = await open(url, token)
    await connection.close()
    expect([asked[0], asked.at(-1)]).toEqual(['initialize 1', expect.stringMatching(/^DELETE [23]$/)])
    expect(token.renewals.every((one) => one.endsWith('due'))).toBe(true)

    const rejecting = await serve((line) => (line === 'initialize' ? 401 : undefined))
    const fresh = new Token({ works: true })
    await expect(open(rejecting.url, fresh)).rejects.toMatchObject({ asksForSignIn: true, message: `Cannot connect to ${rejecting.url.origin}: 401 Unauthorized` })
    expect([rejecting.asked, fresh.renewals]).toEqual([['initialize 1'], []])
  })

  it('sends what is configured if it has no token', async () => {
    const { url, asked } = await serve((line) => (line === 'tools/list' ? 401 : undefined))
    const connection = await open(url)
    await expect(connection.tools()).rejects.toThrow('Error 401')
    expect(asked.filter((line) => !line.startsWith('GET'))).toEqual(['initialize Basic YTpi', 'notifications/initialized Basic YTpi', 'tools/list Basic YTpi'])
  })
})
