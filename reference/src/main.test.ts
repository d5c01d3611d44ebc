import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { AuthServer } from './testing/auth-server.ts'
import { eventually } from './testing/eventually.ts'
import { serverCommand } from './testing/programs.ts'
import { RawClient, request as requestTo } from './testing/raw-client.ts'

/*
 * Tests the program as a process: its output, and how it ends. Each test starts a process, so there are few of them.
 */

const root = mkdtempSync(join(tmpdir(), 'reference-'))
afterAll(() => {
  rmSync(root, { recursive: true })
})

/** A request to this machine under one of its names (CT 15.2). */
function request(...given: Parameters<typeof requestTo>): string {
  return requestTo(...given).replace('Host: x', 'Host: localhost')
}

class Program {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>
  readonly ended: Promise<unknown[]>
  stdout = ''
  stderr = ''

  /** `input` is the beginning of its standard input, which stays open. */
  constructor(args: string[], env: Record<string, string> = {}, cwd?: string, input = '') {
    this.process = spawn(process.execPath, [...serverCommand.slice(1), ...args], {
      cwd,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: '/nonexistent', GOOSE_PATH_ROOT: root, GOOSE_SERVER__SECRET_KEY: 'key', GOOSE_PRICING_URL: 'none', ...env },
    })
    this.process.stdout.on('data', (data: Buffer) => (this.stdout += data.toString()))
    this.process.stderr.on('data', (data: Buffer) => (this.stderr += data.toString()))
    this.ended = once(this.process, 'close')
    this.process.stdin.write(input)
  }

  /** Waits until the program listens, and returns its URL. */
  async url(): Promise<string> {
    while (!this.stdout.includes('\n')) {
      await Promise.race([once(this.process.stdout, 'data'), this.ended.then(() => Promise.reject(new Error(this.stderr)))])
    }
    return this.stdout.replace(/^listening on (.*)\n$/, '$1')
  }

  /** The exit status, or the signal that ended the process. */
  async status(): Promise<unknown> {
    const [code, signal] = await this.ended
    return code ?? signal
  }
}

let program: Program | undefined

afterEach(async () => {
  program?.process.kill('SIGKILL')
  await program?.ended
})

describe('the program', () => {
  it('listens, prints one line, logs JSON to standard error, and stops with status 0', async () => {
    program = new Program(['agent', '--port', '0', '--host', '::1'])
    const url = await program.url()
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/)
    const stream = await RawClient.open(url)
    stream.send(request('GET /event'))
    await stream.until('server.connected')
    program.process.kill('SIGTERM')
    expect(await stream.ended()).toContain('server.instance.disposed')
    expect(await program.status()).toBe(0)
    expect(program.stdout).toBe(`listening on ${url}\n`)
    const logs = program.stderr.trimEnd().split('\n').map((line) => JSON.parse(line) as object)
    expect(logs).toMatchObject([{ msg: 'stopping', signal: 'SIGTERM' }, { msg: 'stopped' }])
    const days = join(root, 'state/logs/server')
    const files = readdirSync(days).flatMap((day) => readdirSync(join(days, day)).map((name) => join(days, day, name)))
    const file = files.find((name) => name.endsWith(`-${program?.process.pid}.log`))
    expect(readFileSync(file ?? '', 'utf8')).toBe(program.stderr)
  })

  it('stops when its standard input ends, if it is told so (S55)', async () => {
    program = new Program(['agent', '--port', '0', '--exit-with-stdin'], {}, undefined, 'ignored\n')
    const stream = await RawClient.open(await program.url())
    stream.send(request('GET /event'))
    await stream.until('server.connected')
    program.process.stdin.end()
    expect(await stream.ended()).toContain('server.instance.disposed')
    expect(await program.status()).toBe(0)
  })

  it('warns in one line about the default secret (S45)', async () => {
    program = new Program(['agent', '--port', '0'], { GOOSE_SERVER__SECRET_KEY: 'test' })
    await program.url()
    program.process.kill('SIGTERM')
    await program.status()
    const [first, ...others] = program.stderr.trimEnd().split('\n')
    expect(first).toMatch(/^warning: .*GOOSE_SERVER__SECRET_KEY/)
    expect(others.map((line) => JSON.parse(line) as object)).toHaveLength(2)

    program = new Program(['agent', '--port', '0', '--host', '0.0.0.0'], { GOOSE_SERVER__SECRET_KEY: 'test' })
    expect(await program.status()).toBe(2)
    expect(program.stderr).toMatch(/^reference-server: environment: GOOSE_SERVER__SECRET_KEY is test, [^\n]* --insecure\n$/)
  })

  it('prints its version (S46)', async () => {
    program = new Program(['--version'])
    expect(await program.status()).toBe(0)
    expect(program.stdout).toBe('agentd 1.16.0\n')
  })

  it.each(['/dev/null', '/dev/null/below', '/proc/nothing'])('reports in one line that %s cannot be GOOSE_PATH_ROOT, and exits with status 1 (S49)', async (path) => {
    program = new Program(['agent', '--port', '0'], { GOOSE_PATH_ROOT: path })
    expect(await program.status()).toBe(1)
    expect(program.stderr).toMatch(new RegExp(`^reference-server: GOOSE_PATH_ROOT: ${path} [^\\n]+\\n$`))
    expect(program.stdout).toBe('')
  })

  it('ends at once with status 1 at the second signal', async () => {
    program = new Program(['agent', '--port', '0'])
    const client = await RawClient.open(await program.url())
    // A request whose body never arrives prevents the server from stopping by itself.
    client.send(request('POST /client-tools/register', ['Content-Length: 5', 'Expect: 100-continue']))
    await client.until('100 Continue')
    program.process.kill('SIGINT')
    await once(program.process.stderr, 'data')
    program.process.kill('SIGTERM')
    expect(await program.status()).toBe(1)
    expect(program.stderr).not.toContain('stopped')
  })

  it('reports what is wrong and exits with status 2 before it listens', async () => {
    program = new Program(['agent', '--port', 'x'], { AGENTD_DEFAULT_TIMEOUT: 'soon' })
    expect(await program.status()).toBe(2)
    expect(program.stdout).toBe('')
    expect(program.stderr).toBe(
      'reference-server: command line: --port is "x"; it must be a whole number from 0 to 65535\n' +
        'reference-server: environment: AGENTD_DEFAULT_TIMEOUT is "soon"; it must be a whole number of milliseconds, at least 1\n',
    )
  })

  it.each([[[]], [['serve']]])('prints its usage when its command is %j', async (args) => {
    program = new Program(args)
    expect(await program.status()).toBe(2)
    expect(program.stderr).toContain('usage: node dist/main.js agent [flags]')
  })

  it('reports in one line that it cannot listen, and exits with status 1 (S35)', async () => {
    program = new Program(['agent', '--port', '0', '--host', '203.0.113.1'])
    expect(await program.status()).toBe(1)
    expect(program.stderr).toBe('reference-server: listen EADDRNOTAVAIL: address not available 203.0.113.1\n')

    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo // it listens on a port
    program = new Program(['agent', '--port', `${port}`])
    expect(await program.status()).toBe(1)
    expect(program.stderr).toBe(`reference-server: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`)
    expect(program.stdout).toBe('')
    taken.close()
  })

  it('leaves no extension running when it ends at once (X11)', async () => {
    const [port, connected] = await listener()
    const answer = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}'
    // It does not notice the end of its input.
    const script = `read -r line; echo '${answer}'; exec sleep 300 3<>/dev/tcp/127.0.0.1/${port}`
    program = new Program(['agent', '--port', '0'])
    const url = await program.url()
    const add = { session_id: 's', config: { type: 'stdio', name: 'x', cmd: 'bash', args: ['-c', script] } }
    const headers = { 'Content-Type': 'application/json', 'X-Secret-Key': 'key' }
    expect((await fetch(`${url}/agent/add_extension`, { method: 'POST', headers, body: JSON.stringify(add) })).status).toBe(200)
    const gone = once(await connected, 'close')
    program.process.kill('SIGINT')
    await once(program.process.stderr, 'data')
    program.process.kill('SIGINT')
    expect(await program.status()).toBe(1)
    await gone
  })

  it('uses its physical directory, whatever link leads there (S37)', async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'reference-')))
    await symlink(folder, join(folder, 'link'))
    const cwd = join(folder, 'link')
    program = new Program(['agent', '--port', '0'], { PWD: cwd }, cwd)
    const client = await RawClient.open(await program.url())
    client.send(request('GET /event'))
    await client.until('server.connected')
    program.process.kill('SIGTERM')
    expect(await client.ended()).toContain(JSON.stringify({ directory: folder }))
    await rm(folder, { recursive: true })
  })

  it.each(['none', '/nowhere/at/all', '/bin/false'])('prints the page of a sign-in on a line of its own, which is not in the log (X53): %s', async (browser) => {
    const server = await AuthServer.start()
    program = new Program(['agent', '--port', '0'], { GOOSE_OAUTH_BROWSER: browser, GOOSE_DISABLE_KEYRING: '' })
    const url = await program.url()
    const added = fetch(`${url}/agent/add_extension`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Secret-Key': 'key' },
      body: JSON.stringify({ session_id: 'a', config: server.extension() }),
    })
    await eventually(() => { expect(program?.stderr).toMatch(/^http.*\n/m) })
    const pages = program.stderr.split('\n').filter((line) => line.includes(server.url))
    expect(pages).toHaveLength(1)
    const [page = ''] = pages
    expect(page.startsWith(`${server.url}/authorize?`)).toBe(true)
    const { searchParams } = new URL(page)
    const query = new URLSearchParams({ state: searchParams.get('state') ?? '', code: 'canary-code' })
    expect((await fetch(`${searchParams.get('redirect_uri') ?? ''}?${query.toString()}`)).status).toBe(200)
    expect((await added).status).toBe(200)
    program.process.kill('SIGTERM')
    expect(await program.status()).toBe(0)
    const days = join(root, 'state/logs/server')
    const files = readdirSync(days).flatMap((day) => readdirSync(join(days, day)).map((name) => join(days, day, name)))
    const log = readFileSync(files.find((name) => name.endsWith(`-${program?.process.pid}.log`)) ?? '', 'utf8')
    expect(log).toContain('signed in')
    expect(program.stderr.replace(`${page}\n`, '')).toBe(log)
    for (const secret of ['canary', '/authorize', searchParams.get('state'), searchParams.get('code_challenge')]) expect(log).not.toContain(secret)
    rmSync(join(root, 'config/secrets.yaml'))
  })
})

describe('the extension developer as a program', () => {
  it('ends the running command on SIGTERM', async () => {
    const [port, connected] = await listener()
    const params = { name: 'shell', arguments: { command: `sleep 300 3<>/dev/tcp/127.0.0.1/${port}; true` } }
    program = new Program(['mcp', 'developer'], {}, undefined, `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`)
    const gone = once(await connected, 'close')
    program.process.kill('SIGTERM')
    expect(await program.status()).toBe(0)
    await gone
  })
})

/** Listens for one connection, by which a test recognises a process. It closes when the last process that holds it has ended. */
async function listener(): Promise<[port: number, connected: Promise<Socket>]> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connected = new Promise<Socket>((resolve) => {
    server.once('connection', (socket) => {
      socket.resume()
      server.close()
      resolve(socket)
    })
  })
  return [(server.address() as AddressInfo).port, connected] // it listens on a port
}
