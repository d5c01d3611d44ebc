// Lets a scenario of lockstep drive the published SDK (docs/drivers.md): one line of JSON for each call, one for each outcome.
import { createInterface } from 'node:readline'
import { inspect } from 'node:util'
import { type PermissionMode } from '@anthropic-ai/claude-agent-sdk'
import { failure } from './failure.js'
import { release, seen } from './handlers.js'
import { type Settings } from './options.js'
import { type Received, Session } from './session.js'

interface Values { options: Settings; prompt: string; name: string; model?: string; mode: PermissionMode }

let session: Session | undefined

const actions: Record<string, (values: Values) => unknown> = {
  connect: async ({ options, prompt }) => {
    session = new Session(options)
    const answer = await session.query.initializationResult()
    if (prompt) session.send(prompt)
    return answer
  },
  run: async ({ options, prompt }) => {
    session = new Session(options, prompt)
    return session.receive(() => false)
  },
  send: ({ prompt }) => { next().send(prompt) },
  steer: ({ prompt }) => { current().send(prompt) },
  receive: () => receive(),
  query: ({ prompt }) => { next().send(prompt); return receive() },
  drain: () => current().receive(() => false),
  interrupt: async () => ({ still_queued: (await current().query.interrupt())?.still_queued ?? [] }),
  setModel: ({ model }) => current().query.setModel(model),
  setPermissionMode: async ({ mode }) => { await current().query.setPermissionMode(mode) },
  mcpStatus: async () => (await current().query.mcpServerStatus()).map(({ name, status }) => ({ name, status })),
  release, seen: () => seen,
  close: async () => { await session?.close() },
}

function receive(): Promise<Received> { return current().receive((message) => message.type === 'result') }

function current(): Session {
  if (!session) throw new Error('call connect first')
  return session
}

function next(): Session { return (session = current().next()) }

/** A long text is shown by its length, so that outcomes stay small. */
function short(_: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > 1000 ? `<${value.length} characters>` : value
}

async function answer(line: string): Promise<void> {
  const { id, do: action, with: values } = JSON.parse(line) as { id: number; do: string; with?: Values } // lockstep wrote it
  const unknown = (): never => { throw new Error(`unknown action ${action}`) }
  let outcome: object
  try {
    outcome = { ok: (await (actions[action] ?? unknown)(values ?? ({} as Values))) ?? {} }
  } catch (error) {
    process.stderr.write(`${inspect(error)}\n`)
    outcome = { error: failure(error) }
  }
  process.stdout.write(`${JSON.stringify({ id, ...outcome }, short)}\n`)
}

createInterface({ input: process.stdin }).on('line', (line) => void answer(line)).on('close', () => void session?.close())
