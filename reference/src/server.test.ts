import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { rootPaths } from './settings/paths.ts'
import { startServer, type RunningServer, type ServerOptions } from './server.ts'
import { RawClient, request } from './testing/raw-client.ts'
import { gooseOptions, recordingLogger } from './testing/test-app.ts'

const root = mkdtempSync(join(tmpdir(), 'server-'))
afterAll(() => {
  rmSync(root, { recursive: true })
})

const options: ServerOptions = {
  host: '127.0.0.1',
  port: 0,
  directory: '/home/test',
  defaultTimeout: 30_000,
  keepaliveInterval: 30_000,
  maxBody: 1000,
  ...gooseOptions,
  paths: rootPaths(root),
}

async function start(more: Partial<ServerOptions> = {}): Promise<RunningServer> {
  return startServer({ ...options, ...more }, recordingLogger().logger)
}

function post(path: string, body: unknown): string {
  const json = JSON.stringify(body)
  return request(`POST ${path}`, ['Content-Type: application/json', `Content-Length: ${json.length}`], json)
}

const register = post('/client-tools/register', {
  clientID: 'c',
  tools: [{ id: 't', description: '', parameters: {} }],
})

describe('startServer', () => {
  it('creates the directories and the settings that it needs (GA 1.5)', async () => {
    const server = await start()
    expect(existsSync(join(root, 'data'))).toBe(true)
    const day = new Date().toISOString().slice(0, 10)
    expect(existsSync(join(root, 'state/logs/server', day))).toBe(true)
    expect(readFileSync(join(root, 'config/config.yaml'), 'utf8')).toBe('{}\n')
    await server.stop()
  })

  it('serves without them if they cannot be created', async () => {
    const { logger, entries } = recordingLogger()
    const paths = rootPaths('/dev/null')
    const server = await startServer({ ...options, paths }, logger)
    expect((await fetch(`${server.url}/status`)).status).toBe(200)
    expect(entries).toMatchObject([{ level: 'warn', message: 'directories not ready' }])
    await server.stop()
  })

  it('reports its address', async () => {
    const server = await start()
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
    await expect(startServer({ ...options, port: Number(new URL(server.url).port) }, recordingLogger().logger)).rejects.toThrow('EADDRINUSE')
    await server.stop()
  })

  it.each<[host: string, shown: string, answers: string[], silent: string[]]>([
    ['127.0.0.1', '127.0.0.1', ['127.0.0.1'], ['[::1]']],
    ['0.0.0.0', '0.0.0.0', ['127.0.0.1'], ['[::1]']],
    ['::', '[::]', ['127.0.0.1', '[::1]'], []],
    ['0:0:0:0:0:0:0:1', '[0:0:0:0:0:0:0:1]', ['[::1]'], ['127.0.0.1']],
    ['::ffff:127.0.0.1', '[::ffff:127.0.0.1]', ['127.0.0.1'], ['[::1]']],
    ['::FFFF:7f00:1', '[::FFFF:7f00:1]', ['127.0.0.1'], ['[::1]']],
  ])('listens on %s, which it prints as it was given (S36)', async (host, shown, answers, silent) => {
    const server = await startServer({ ...options, host }, recordingLogger().logger)
    const [, address, port] = /^http:\/\/(.*):(\d+)$/.exec(server.url) ?? []
    expect(address).toBe(shown)
    for (const host of answers) (await RawClient.open(`http://${host}:${port}`)).close()
    for (const host of silent) await expect(RawClient.open(`http://${host}:${port}`)).rejects.toThrow('ECONNREFUSED')
    await server.stop()
  })

  it.each<[fields: string[], status: number]>([
    [['Content-Type: \tapplication/json \t'], 200],
    [['Content-Type: application/json; a=b,c'], 200],
    [['Content-Type: application/json; a="b'], 200],
    [['Content-Type: application/json; a="b, application/json"'], 200],
    [['Content-Type: application/json; a=b, application/json'], 200],
    [['Content-Type: application/json; a= '], 400],
    [['Content-Type: application/json, x'], 400],
    [['Content-Type: application/json; a="b', 'content-type: application/json"'], 400],
    [['Content-Type: application/json; a=b', 'CONTENT-TYPE: application/json'], 400],
    [['Content-Type: application/json', 'Content-Type: application/json'], 400],
    [['Content-Type: application/json', 'Content-Type:'], 400],
    [['Content-Type:', 'Content-Type: application/json; a=b', 'Content-Type:'], 400],
  ])('reads a body after %j with status %i (S25)', async (fields, status) => {
    const server = await start()
    const client = await RawClient.open(server.url)
    const body = '{"clientID":"c","tools":[]}'
    client.send(request('POST /client-tools/register', [...fields, `Content-Length: ${body.length}`], body))
    const answer = await client.answer()
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.body).toMatch(/^\{"data":\{\},/)
    await server.stop()
  })

  it.each<[fields: string[], status: number]>([
    [['X-Secret-Key: \ttest '], 404],
    [['X-Secret-Key: test', 'x-secret-key: test'], 401],
    [['X-Secret-Key: test', 'x-secret-key:'], 401],
    [['X-Secret-Key: te\xe9st'], 401],
    [[], 401],
  ])('answers the key %j with status %i (G8)', async (fields, status) => {
    const server = await start()
    const client = await RawClient.open(server.url)
    client.send(request('GET /nope', fields))
    expect((await client.answer()).status).toBe(status)
    await server.stop()
  })

  it.each<[sites: string[], status: number]>([
    [['same-origin', 'none'], 200],
    [['none, none'], 403],
    [['same-origin', 'cross-site'], 403],
    [['none', ''], 403],
  ])('answers a page whose fields Sec-Fetch-Site are %j with status %i (S88)', async (sites, status) => {
    const server = await start({ allowedOrigins: [], hostName: 'x' })
    const client = await RawClient.open(server.url)
    client.send(request('GET /client-tools/tools', sites.map((site) => `Sec-Fetch-Site: ${site}`)))
    expect((await client.answer()).status).toBe(status)
    await server.stop()
  })

  it('withdraws a call when its caller closes its sending side', async () => {
    const server = await start()
    const [caller, other, watcher] = [
      await RawClient.open(server.url),
      await RawClient.open(server.url),
      await RawClient.open(server.url),
    ]
    watcher.send(request('GET /event'))
    await watcher.until('server.connected')
    other.send(register)
    await other.answer()
    caller.send(post('/client-tools/execute', { toolID: 'client_c_t', requestID: 'r' }))
    await watcher.until('client-tool.request"')
    caller.socket.end()
    expect(await caller.ended()).toBe('')
    other.send(post('/client-tools/result', { requestID: 'r', result: { status: 'error', error: '' } }))
    expect((await other.answer()).status).toBe(404)
    await server.stop()
  })

  it('rejects a declared length above the limit before the body is sent, and keeps the connection open', async () => {
    const server = await start()
    const client = await RawClient.open(server.url)
    client.send(request('POST /client-tools/register', ['Content-Length: 1001']))
    const { status, body } = await client.answer()
    expect([status, body]).toEqual([413, '{"error":"Request body too large"}'])
    client.send('x'.repeat(1001) + register)
    expect((await client.answer()).body).toBe('{"registered":["client_c_t"]}')
    await server.stop()
  })

  it('stops while streams and calls are open, and notifies all of them (S19)', async () => {
    const server = await start()
    const clients = await Promise.all(Array.from({ length: 5 }, () => RawClient.open(server.url)))
    const [pending, events, all, caller, idle] = clients as [RawClient, RawClient, RawClient, RawClient, RawClient]
    idle.send(register)
    await idle.answer()
    pending.send(request('GET /client-tools/pending/c'))
    events.send(request('GET /event'))
    all.send(request('GET /global/event'))
    await Promise.all([pending.head(), events.until('server.connected'), all.head()])
    caller.send(post('/client-tools/execute', { toolID: 'client_c_t', requestID: 'r' }))
    await pending.until('"requestID":"r"')

    await server.stop()
    const { status, body } = await caller.answer()
    expect([status, body]).toEqual([500, '{"error":{"code":"INTERNAL_ERROR","message":"Server is shutting down"}}'])
    const [ofPending, ofEvents, ofAll, ofIdle] = await Promise.all([pending, events, all, idle].map((client) => client.ended()))
    expect(ofPending).toMatch(/\n\n\r\n0\r\n\r\n$/)
    expect(ofEvents).toMatch(/client-tool\.failed[^]*server\.instance\.disposed[^]*\n\n\r\n0\r\n\r\n$/)
    expect(ofAll).toMatch(/client-tool\.failed[^]*server\.instance\.disposed[^]*\n\n\r\n0\r\n\r\n$/)
    expect(ofEvents).not.toContain('client-tool.unregistered')
    expect(ofAll).not.toContain('client-tool.unregistered')
    expect(ofIdle).toBe('')
    await expect(RawClient.open(server.url)).rejects.toThrow('ECONNREFUSED')
  })
})
