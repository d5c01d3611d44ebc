import { beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { ToolContext } from './index.ts'
import type { Received } from './testing/scripted-server.ts'
import { definition, result, toolRequest, useFixture } from './testing/fixture.ts'

const f = useFixture({ timeout: 500 })
let stream: Received

beforeEach(async () => {
  stream = await f.connect()
})

/** Registers a tool while the server answers. */
async function offer(id: string, handler: (input: object, context: ToolContext) => unknown): Promise<void> {
  // Handlers in JavaScript may return anything.
  const registering = f.client.tools.register(id, definition, handler as never)
  ;(await f.server.next('POST /client-tools/register')).reply(200)
  await registering
}

/** Sends a request, and returns the result that the client submits. */
async function call(request: object): Promise<unknown> {
  stream.event('tool-request', request)
  const submitted = await f.server.next(result)
  submitted.reply(200)
  return submitted.json()
}

describe('a request', () => {
  it('runs the tool with its input and IDs', async () => {
    let context: ToolContext | undefined
    await offer('a', (input, given) => {
      context = given
      return { title: 't', output: JSON.stringify(input) }
    })
    expect(await call(toolRequest('a', { x: [1] }))).toEqual({
      requestID: 'r1', result: { status: 'success', title: 't', output: '{"x":[1]}' },
    })
    expect(context).toMatchObject({ sessionID: 's1', messageID: 'm1', callID: 'k1' })
    expect(context?.signal.aborted).toBe(false)
  })

  it('S60: missing fields are empty', async () => {
    let seen: unknown
    await offer('a', (input, { sessionID, messageID, callID }) => {
      seen = { input, sessionID, messageID, callID }
      return { title: '', output: '' }
    })
    await call({ requestID: 'r1', tool: 'client_c1_a' })
    expect(seen).toEqual({ input: {}, sessionID: '', messageID: '', callID: '' })
  })

  it('S60: invalid data is reported, and the stream continues', async () => {
    stream.write('event: tool-request\ndata: {\n\n')
    for (const data of [null, [], 'r1', {}, { requestID: 'r1' }, { requestID: 1, tool: 'a' }]) stream.event('tool-request', data)
    stream.event('ping', '').event('other', {}).event('', {})
    expect(await call(toolRequest('a'))).toEqual({ requestID: 'r1', result: { status: 'error', error: 'Unknown tool: a' } })
    expect(f.errors.all).toMatchObject(Array.from({ length: 7 }, () => ({ message: 'Invalid tool request' })))
    expect(f.reconnects.all).toEqual([])
  })

  it('S60: an event of more than 16 MiB loses the stream', async () => {
    stream.write(`data: ${'x'.repeat(16 * 1024 * 1024)}`)
    await f.reconnects.count(1)
    await stream.closed
    expect(f.reconnects.all).toEqual([[1, 1000]])
  })

  it('keeps the name of a tool without the prefix of the client', async () => {
    expect(await call({ requestID: 'r1', tool: 'client_c2_a' })).toEqual({
      requestID: 'r1', result: { status: 'error', error: 'Unknown tool: client_c2_a' },
    })
  })

  it('runs several at a time', async () => {
    const all = Array.from({ length: 12 }, (_, i) => `r${i}`)
    const finish: (() => void)[] = []
    let allStarted = (): void => undefined
    const started = new Promise<void>((resolve) => (allStarted = resolve))
    await offer('a', async () => {
      await new Promise<void>((resolve) => {
        if (finish.unshift(resolve) === all.length) allStarted()
      })
      return { title: 't', output: 'o' }
    })
    // More handlers than the platform allows listeners of one signal without a warning.
    const warned = vi.spyOn(process, 'emitWarning')
    for (const id of all) stream.event('tool-request', toolRequest('a', {}, id))
    await started
    for (const end of finish) end()
    const submitted: unknown[] = []
    for (const {} of all) {
      const request = await f.server.next(result)
      submitted.push((request.json() as { requestID: string }).requestID)
      request.reply(200)
    }
    expect(submitted.sort()).toEqual(all.sort())
    expect(warned).not.toHaveBeenCalled()
  })
})

describe('a result', () => {
  it('has metadata and attachments if the handler gave some', async () => {
    const attachments = [{ mime: 'text/plain', url: 'data:,x' }]
    await offer('a', () => ({ attachments, metadata: { n: 1 }, output: 'o', title: 't', more: 1 }))
    stream.event('tool-request', toolRequest('a'))
    const submitted = await f.server.next(result)
    submitted.reply(200)
    expect(submitted.body).toBe('{"requestID":"r1","result":{"status":"success","title":"t","output":"o","metadata":{"n":1},'
      + '"attachments":[{"mime":"text/plain","url":"data:,x"}]}}')
  })

  it.each([[undefined], ['text'], [{ title: 't' }], [{ title: 1, output: 'o' }]])('S61: %j is invalid', async (value) => {
    await offer('a', () => value)
    expect(await call(toolRequest('a'))).toMatchObject({ result: { status: 'error', error: 'Invalid tool result' } })
  })

  it.each([[new Error('boom'), 'boom'], ['text', 'text'], [7, '7']])('of a handler that throws %o is its message', async (thrown, error) => {
    await offer('a', () => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- a handler in JavaScript may throw anything
      throw thrown
    })
    expect(await call(toolRequest('a'))).toMatchObject({ result: { status: 'error', error } })
  })

  it('S61: one that the server rejects is reported and not sent again', async () => {
    await offer('a', () => ({ title: 't', output: 'o' }))
    stream.event('tool-request', toolRequest('a'))
    ;(await f.server.next(result)).reply(404, { error: 'Unknown request ID' })
    await f.errors.count(1)
    expect(f.errors.all).toMatchObject([{ status: 404, message: '404: Unknown request ID' }])
  })

  it('S61: one that cannot be sent is reported', async () => {
    await offer('a', () => ({ title: 't', output: 'o', metadata: { n: 1n } }))
    stream.event('tool-request', toolRequest('a'))
    await f.errors.count(1)
    expect(String(f.errors.all[0])).toContain('BigInt')
  })

  it('S61: is sent although the stream has been lost meanwhile', async () => {
    let finish = (): void => undefined
    const started = new Promise<void>((resolve) => {
      void offer('a', () => {
        resolve()
        return new Promise((end) => {
          finish = () => {
            end({ title: 't', output: 'late' })
          }
        })
      }).then(() => { stream.event('tool-request', toolRequest('a')).end(); })
    })
    await started
    await f.reconnects.count(1)
    finish()
    const submitted = await f.server.next(result)
    expect(submitted.json()).toMatchObject({ requestID: 'r1', result: { output: 'late' } })
    submitted.reply(200)
  })
})

describe('the signal of a handler', () => {
  it('informs it after the timeout; its result is sent all the same', async () => {
    const aborted = new Promise<void>((resolve) => {
      void offer('a', (_, { signal }) => new Promise((end) => {
        signal.addEventListener('abort', () => {
          end({ title: 't', output: String(signal.reason) })
        })
        resolve()
      })).then(() => stream.event('tool-request', toolRequest('a')))
    })
    await aborted
    vi.advanceTimersByTime(500)
    const submitted = await f.server.next(result)
    expect(submitted.json()).toMatchObject({ result: { output: 'Error: The tool did not finish within 500 ms' } })
    submitted.reply(200)
  })

  it('S61: is aborted by disconnect, and no result is sent', async () => {
    let finished = (): void => undefined
    const ended = new Promise<void>((resolve) => (finished = resolve))
    const started = new Promise<void>((resolve) => {
      void offer('a', async (_, { signal, progress }) => {
        resolve()
        await new Promise((end) => {
          signal.addEventListener('abort', end)
        })
        await expect(progress(1)).rejects.toThrow('Disconnected')
        finished()
        return { title: 't', output: 'o' }
      }).then(() => stream.event('tool-request', toolRequest('a')))
    })
    await started
    await f.client.tools.disconnect()
    await ended
    await stream.closed
    expect(f.errors.all).toEqual([])
  })
})

describe('a validator', () => {
  const schema = z.object({ n: z.string().transform(Number) })

  it('gives the handler what it makes of the input, and rejects the rest', async () => {
    const registering = f.client.tools.register(
      'a', { description: 'd', parameters: { type: 'object' }, validator: schema }, ({ n }) => ({ title: 't', output: String(n + 1) }),
    )
    const request = await f.server.next('POST /client-tools/register')
    expect(request.json()).toEqual({ clientID: 'c1', tools: [{ id: 'a', ...definition }] })
    request.reply(200)
    await registering
    expect(await call(toolRequest('a', { n: '41' }))).toMatchObject({ result: { output: '42' } })
    expect(await call(toolRequest('a', { n: 41 }))).toMatchObject({
      result: { status: 'error', error: 'Invalid input: n: Invalid input: expected string, received number' },
    })
  })
})

describe('within a handler', () => {
  const [progressPath, callPath] = ['POST /client-tools/progress', 'POST /client-tools/call']

  it('S62: progress is posted', async () => {
    await offer('a', async (_, { progress }) => {
      await progress(1, { total: 2, message: 'half' })
      await progress(2)
      return { title: 't', output: 'o' }
    })
    stream.event('tool-request', toolRequest('a'))
    const first = await f.server.next(progressPath)
    expect(first.body).toBe('{"requestID":"r1","progress":1,"total":2,"message":"half"}')
    first.reply(200)
    const second = await f.server.next(progressPath)
    expect(second.body).toBe('{"requestID":"r1","progress":2}')
    second.reply(404, { error: 'Unknown request ID' })
    const submitted = await f.server.next(result)
    expect(submitted.json()).toMatchObject({ result: { status: 'error', error: '404: Unknown request ID' } })
    submitted.reply(200)
  })

  it.each<[object, object]>([
    [{ status: 'success', content: [{ type: 'text', text: 'x' }] }, { status: 'success', output: '[{"type":"text","text":"x"}]' }],
    [{ status: 'error', error: 'declined' }, { status: 'error', error: 'declined' }],
    [{ status: 'odd' }, { status: 'error', error: 'Invalid response to a call' }],
  ])('S62: callTool returns the content or fails: %j', async (answer, expected) => {
    await offer('a', async (_, { callTool }) => ({ title: 't', output: JSON.stringify(await callTool('shell', { command: 'ls' })) }))
    stream.event('tool-request', toolRequest('a'))
    const request = await f.server.next(callPath)
    expect(request.body).toBe('{"requestID":"r1","tool":"shell","input":{"command":"ls"}}')
    request.reply(200, answer)
    const submitted = await f.server.next(result)
    expect(submitted.json()).toMatchObject({ result: expected })
    submitted.reply(200)
  })

  it('S62: callTool may be cancelled', async () => {
    const controller = new AbortController()
    await offer('a', async (_, { callTool }) => {
      await callTool('shell', undefined, { signal: controller.signal })
      return { title: 't', output: 'o' }
    })
    stream.event('tool-request', toolRequest('a'))
    const request = await f.server.next(callPath)
    expect(request.body).toBe('{"requestID":"r1","tool":"shell"}')
    controller.abort(new Error('enough'))
    const submitted = await f.server.next(result)
    expect(submitted.json()).toMatchObject({ result: { status: 'error', error: 'enough' } })
    submitted.reply(200)
    await request.closed
  })
})
