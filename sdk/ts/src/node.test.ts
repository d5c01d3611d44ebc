import { spawn } from 'node:child_process'
import { getEventListeners, once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { createAgent } from './node.ts'
import { fakeClock } from './testing/fake-clock.ts'

const folder = mkdtempSync(join(tmpdir(), 'client-tools-'))
afterAll(() => {
  rmSync(folder, { recursive: true })
})

/** A program that begins with this code. It can tell the test what it saw with `note`. */
function program(code: string): { command: [string, string]; notes: () => string } {
  const [file, log] = [join(folder, `${Math.random()}.mjs`), join(folder, `${Math.random()}.log`)]
  writeFileSync(log, '')
  writeFileSync(file, `import { appendFileSync } from 'node:fs'
    import { createServer } from 'node:http'
    const note = (text) => appendFileSync(${JSON.stringify(log)}, text + '\\n')
    ${code}`)
  return { command: [process.execPath, file], notes: () => readFileSync(log, 'utf8') }
}

const listen = `
  const server = createServer((request, response) => {
    note(request.url + ' ' + request.headers['x-secret-key'])
    response.end('{"id":"s1"}')
  }).listen(0, '127.0.0.1', () => {
    console.log('a line before')
    console.log('listening on http://127.0.0.1:' + server.address().port)
  })`
const exitWithInput = `process.stdin.resume().on('end', () => { note('end of input'); process.exit(0) })`

it('S55: starts a server with a key, and stops it by its input', async () => {
  const { command, notes } = program(`
    note(process.argv.slice(2).join(' '))
    note(process.env.GOOSE_SERVER__SECRET_KEY + ' ' + process.env.MORE)
    ${listen}
    ${exitWithInput}`)
  const agent = await createAgent({ command, env: { MORE: 'more' }, clientID: 'c1' })
  expect(agent.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(agent.client.clientID).toBe('c1')
  await agent.client.startSession({ tools: false })
  await agent.close()
  const [args, environment = '', request, end] = notes().trim().split('\n')
  expect(args).toBe('agent --host 127.0.0.1 --port 0 --exit-with-stdin')
  expect(environment).toMatch(/^[0-9a-f]{64} more$/)
  expect(request).toBe(`/agent/start ${environment.replace(' more', '')}`)
  expect(end).toBe('end of input')
  await agent.close() // again, without effect
})

it('S55: an option gives the key', async () => {
  const { command, notes } = program(`note(process.env.GOOSE_SERVER__SECRET_KEY); ${listen}; ${exitWithInput}`)
  const agent = await createAgent({ command, secretKey: 'mine' })
  await agent.close()
  expect(notes()).toBe('mine\nend of input\n')
})

it('S55: a server that does not exit is killed after 10 s', async () => {
  const { command } = program(`${listen}; process.on('SIGTERM', () => undefined)`)
  const agent = await createAgent({ command })
  const end = fakeClock()
  try {
    let closed = false
    const closing = agent.close().then(() => (closed = true))
    await vi.advanceTimersByTimeAsync(9999)
    expect(closed).toBe(false)
    vi.advanceTimersByTime(1)
    await closing
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    end()
  }
})

it('S55: a server that does not listen within 30 s is stopped', async () => {
  const { command, notes } = program(exitWithInput)
  const end = fakeClock()
  try {
    const failed = expect(createAgent({ command })).rejects.toThrow('The server did not start within 30 seconds')
    vi.advanceTimersByTime(30_000)
    await failed
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    end()
  }
  expect(notes()).toMatch(/^(end of input\n)?$/) // if it had started at all
})

it('says why a server did not start', async () => {
  const { command } = program(`console.error('no such option'); process.exit(2)`)
  await expect(createAgent({ command })).rejects.toThrow(/ended with status 2 before it listened: no such option$/)
  await expect(createAgent({ command: [join(folder, 'missing')] })).rejects.toThrow(/^Start .*missing: spawn .* ENOENT$/)
})

it('may be cancelled', async () => {
  const controller = new AbortController()
  const { command } = program(exitWithInput)
  const failed = expect(createAgent({ command, signal: controller.signal })).rejects.toThrow('enough')
  controller.abort(new Error('enough'))
  await failed
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
})

it('S55: the server never outlives this process', async () => {
  const library = new URL('../dist/node.js', import.meta.url)
  if (!existsSync(library)) throw new Error(`${library.pathname} is missing: run make build (make test does)`)
  const { command } = program(`${listen}; ${exitWithInput}`)
  const { command: [node, file] } = program(`
    import { createAgent } from ${JSON.stringify(library)}
    const agent = await createAgent({ command: ${JSON.stringify(command)} })
    console.log(agent.url)`)
  const parent = spawn(node, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [url] = (await once(parent.stdout, 'data')) as [Buffer]
  const connection = createConnection(Number(new URL(url.toString()).port), '127.0.0.1')
  await once(connection, 'connect')
  parent.kill('SIGKILL')
  await once(connection.resume(), 'close') // the server has ended
})
