import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Readable } from 'node:stream'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient, type Client } from '../../gen/ts/client/index.ts'
import {
  executeClientTool, getStatus, listClientTools, registerClientTools, streamPendingRequests, submitClientToolResult,
  unregisterClientTools,
} from '../../gen/ts/sdk.gen.ts'
import type { ClientToolExecutionRequest } from '../../gen/ts/types.gen.ts'

/*
 * Runs the generated client against each server: it registers a tool, opens its stream, has the tool executed, posts the result,
 * and unregisters.
 */

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

const root = mkdtempSync(join(tmpdir(), 'story-'))
afterAll(() => {
  rmSync(root, { recursive: true })
})

const servers = [
  { name: 'typescript', program: file('../dist/main.js'), command: [process.execPath, file('../dist/main.js')] },
  { name: 'go', program: file('../../bin/agentd'), command: [file('../../bin/agentd')] },
]

describe.each(servers)('the client and the $name server', { timeout: 30_000 }, ({ program, command }) => {
  let server: ChildProcessByStdio<null, Readable, null>
  let client: Client

  beforeEach(async () => {
    if (!existsSync(program)) throw new Error(`${program} is missing: run make build (make test does)`)
    const [executable = '', ...args] = command
    server = spawn(executable, [...args, 'agent', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { HOME: '/nonexistent', GOOSE_PATH_ROOT: root },
    })
    const [line] = (await once(server.stdout, 'data')) as [Buffer]
    client = createClient({ baseUrl: line.toString().replace(/^listening on (.*)\n$/, '$1') })
  })

  afterEach(async () => {
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  it('live through a story', async () => {
    expect((await getStatus({ client, parseAs: 'text' })).data).toBe('ok')

    const registered = await registerClientTools({
      client,
      body: { clientID: 'story', tools: [{ id: 'add', description: 'Adds', parameters: { type: 'object' } }] },
    })
    const toolID = registered.data?.registered[0] ?? ''
    expect(toolID).toBe('client_story_add')

    const closing = new AbortController()
    const { stream } = await streamPendingRequests({
      client, path: { clientID: 'story' }, signal: closing.signal, sseMaxRetryAttempts: 1,
    })
    // The client connects when `next` is called, so calls may time out before the stream is open.
    const first = stream.next()
    const called = (async () => {
      for (;;) {
        const outcome = await executeClientTool({
          client, body: { toolID, callID: 'call_1', input: { a: 2, b: 3 }, timeout: 250 },
        })
        if (outcome.response.status !== 504) return outcome // a 504 means that the stream was not open yet
      }
    })()
    // The types of the client allow an event or an error here. This stream sends a request.
    const request = (await first).value as ClientToolExecutionRequest
    expect(request).toMatchObject({ type: 'client-tool-request', tool: toolID, input: { a: 2, b: 3 } })

    const answer = { requestID: request.requestID, result: { status: 'success', title: 'Sum', output: '5' } } as const
    expect((await submitClientToolResult({ client, body: answer })).data).toEqual({ success: true })
    expect((await called).data).toEqual({ status: 'success', title: 'Sum', output: '5' })

    const again = await submitClientToolResult({ client, body: answer })
    expect(again.response.status).toBe(404)
    expect(again.error).toEqual({ error: 'Unknown request ID' })

    const removed = await unregisterClientTools({ client, body: { clientID: 'story' } })
    expect(removed.data).toEqual({ success: true, unregistered: [toolID] })
    closing.abort()
    expect((await listClientTools({ client, path: { clientID: 'story' } })).data).toEqual([])
  })
})
