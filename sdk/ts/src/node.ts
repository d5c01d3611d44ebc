import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Readable, Writable } from 'node:stream'
import { type Client, type ClientOptions, createClient } from './client.ts'
import { ClientToolsError } from './errors.ts'
import { Scope } from './scope.ts'

const [startMs, stopMs, maxLine, maxErrors] = [30_000, 10_000, 64 * 1024, 4096]

export interface AgentOptions extends Omit<ClientOptions, 'baseUrl'> {
  /** The program and its first arguments; `['agentd']` by default. */
  command?: readonly [string, ...string[]] | undefined
  /** Variables in addition to those of this process. */
  env?: Readonly<Record<string, string>> | undefined
  /** Where the server runs. */
  cwd?: string | undefined
  /** Cancels the start. */
  signal?: AbortSignal | undefined
}

export interface Agent {
  client: Client
  url: string
  /** Disconnects the client, and stops the server. */
  close: () => Promise<void>
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** Starts an agent server as a child process, and returns a client of it. The server never outlives this process (S55). */
export async function createAgent(options: AgentOptions = {}): Promise<Agent> {
  const { command = ['agentd'], env, cwd, signal, secretKey = randomBytes(32).toString('hex'), ...clientOptions } = options
  signal?.throwIfAborted()
  const [program, ...args] = command
  const child = spawn(program, [...args, 'agent', '--host', '127.0.0.1', '--port', '0', '--exit-with-stdin'], {
    stdio: ['pipe', 'pipe', 'pipe'], // the server stops when this end of its input is gone
    env: { ...process.env, ...env, GOOSE_SERVER__SECRET_KEY: secretKey },
    ...(cwd === undefined ? {} : { cwd }),
  })
  child.stdin.on('error', () => undefined) // a server that has exited does not read it
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve()
    })
    child.once('close', () => { // without an exit if it never ran
      resolve()
    })
  })
  const scope = new Scope().open({ signal, limit: { ms: startMs, reason: 'The server did not start within 30 seconds' } })
  try {
    const url = await listening(child, program, scope.signal)
    const client = createClient({ ...clientOptions, baseUrl: url, secretKey })
    return {
      client,
      url,
      close: async () => {
        await client.tools.disconnect()
        await stop(child, exited)
      },
    }
  } catch (error) {
    await stop(child, exited)
    throw error
  } finally {
    scope.end()
  }
}

/** The address that the server prints when it listens. */
function listening(child: Child, program: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let [output, errors] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(0, maxLine)
      const url = /^listening on (\S+)\n/m.exec(output)?.[1]
      if (url) resolve(url)
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-maxErrors)
    })
    child.once('error', (cause) => {
      reject(new ClientToolsError(`Start ${program}: ${cause.message}`, { cause }))
    })
    child.once('close', (code: number | null) => {
      reject(new ClientToolsError(`${program} ended with status ${code ?? 'of a signal'} before it listened: ${errors.trim()}`))
    })
    const abort = (): void => {
      reject(signal.reason as Error) // of whatever type the caller's signal has
    }
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
  })
}

/** Closes the input of the server, and kills it if it has not exited after 10 s. */
async function stop(child: Child, exited: Promise<void>): Promise<void> {
  child.stdin.end()
  const timer = setTimeout(() => child.kill('SIGKILL'), stopMs)
  await exited
  clearTimeout(timer)
  for (const pipe of [child.stdout, child.stderr]) pipe.destroy() // a process that the server has left may keep the other ends
}
