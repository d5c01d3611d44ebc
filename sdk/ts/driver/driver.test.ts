import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface, type Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { pending, register, result, toolRequest } from '../src/testing/fixture.ts'
import { ScriptedServer } from '../src/testing/scripted-server.ts'

const program = fileURLToPath(new URL('../dist/driver.js', import.meta.url))
let driver: ChildProcessByStdio<Writable, Readable, null>
let lines: Interface
let server: ScriptedServer
let last = 0

beforeEach(async () => {
  if (!existsSync(program)) throw new Error(`${program} is missing: run make build (make test does)`)
  server = await ScriptedServer.start()
  driver = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  lines = createInterface({ input: driver.stdout })
})

afterEach(async () => {
  driver.stdin.end()
  const [status] = (await once(driver, 'exit')) as [number | null]
  await server.close()
  expect(status).toBe(0)
})

async function act(action: string, values?: object): Promise<unknown> {
  driver.stdin.write(`${JSON.stringify({ id: ++last, do: action, with: values })}\n`)
  const [line] = (await once(lines, 'line')) as [string]
  const { id, ...outcome } = JSON.parse(line) as { id: number } & Record<string, unknown>
  expect(id).toBe(last)
  return outcome
}

const tool = { description: 'd', parameters: { type: 'object' } }

it('does what a scenario asks for, over an event stream', async () => {
  expect(await act('connect')).toEqual({ error: 'call new first' })
  expect(await act('new', { url: server.url, clientID: 'c1', transport: 'sse', timeout: 60_000 })).toEqual({ ok: {} })
  const handlers = {
    fixed: { title: 't', output: 'o', metadata: { n: 1 } }, failing: { error: 'boom' }, echo: { echo: true }, waiting: { wait: true },
    progress: { progress: [1, 2.5] }, call: { call: { tool: 'shell', input: { command: 'ls' } } }, gone: { echo: true },
  }
  for (const [id, handler] of Object.entries(handlers)) {
    expect(await act('register', { id, ...tool, handler })).toEqual({ ok: {} })
  }
  expect(await act('unregister', { id: 'gone' })).toEqual({ ok: {} })
  const connecting = act('connect')
  const registration = await server.next(register)
  expect((registration.json() as { tools: unknown[] }).tools).toHaveLength(6)
  registration.reply(200)
  const stream = (await server.next(pending)).open()
  expect(await connecting).toEqual({ ok: {} })

  const submitted = async (): Promise<unknown> => {
    const request = await server.next(result)
    request.reply(200)
    return (request.json() as { result: unknown }).result
  }
  stream.event('tool-request', toolRequest('fixed'))
  expect(await submitted()).toEqual({ status: 'success', ...handlers.fixed })
  stream.event('tool-request', toolRequest('failing'))
  expect(await submitted()).toEqual({ status: 'error', error: 'boom' })
  stream.event('tool-request', toolRequest('echo', { a: [1] }))
  expect(await submitted()).toEqual({ status: 'success', title: 'echo', output: '{"a":[1]}' })
  stream.event('tool-request', toolRequest('progress'))
  for (const progress of handlers.progress.progress) {
    const report = await server.next('POST /client-tools/progress')
    expect(report.json()).toEqual({ requestID: 'r1', progress })
    report.reply(200)
  }
  expect(await submitted()).toEqual({ status: 'success', title: 'done', output: '' })
  stream.event('tool-request', toolRequest('call'))
  const call = await server.next('POST /client-tools/call')
  expect(call.json()).toEqual({ requestID: 'r1', ...handlers.call.call })
  call.reply(200, { status: 'success', content: [] })
  expect(await submitted()).toEqual({ status: 'success', title: 'call', output: '[]' })

  stream.event('tool-request', toolRequest('waiting')).event('tool-request', [])
  stream.event('tool-request', toolRequest('fixed'))
  await submitted()
  expect(await act('seen')).toEqual({ ok: { errors: ['Invalid tool request'], reconnects: [] } })
  expect(await act('disconnect')).toEqual({ ok: {} })
  await stream.closed
})

it('reports how connect failed, and gives up waiting tools after the timeout', async () => {
  await act('new', { url: server.url, clientID: 'c1', transport: 'websocket', timeout: 1 })
  await act('register', { id: 'waiting', ...tool, handler: { wait: true } })
  const refused = act('connect')
  ;(await server.next(register)).reply(429, { error: { code: 'RATE_LIMITED', message: 'Too many tools' } })
  expect(await refused).toEqual({ error: '429: Too many tools' })
  expect(await act('seen')).toEqual({ ok: { errors: ['429: Too many tools'], reconnects: [] } })
  const connecting = act('connect')
  ;(await server.next(register)).reply(200)
  const socket = await (await server.handshake()).accept()
  expect(JSON.parse(await socket.next())).toEqual({ type: 'register', tools: [{ id: 'waiting', ...tool }] })
  expect(await connecting).toEqual({ ok: {} })
  socket.send({ type: 'request', request: toolRequest('waiting') })
  expect(JSON.parse(await socket.next())).toEqual({ type: 'result', requestID: 'r1', result: { status: 'error', error: 'aborted' } })
})
