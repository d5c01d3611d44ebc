import { describe, expect, it, vi } from 'vitest'
import type { BusEvent } from '#contract'
import { Bus } from '../events/bus.ts'
import { Executions, maxTimeout, type Call, type Execution, type Outcome } from './executions.ts'
import { useFakeTimers } from '../../testing/fake-timers.ts'

const now = 1_765_000_000_000

useFakeTimers(now)

class Fixture {
  readonly heard: { event: BusEvent; directory: string }[] = []
  readonly executions: Executions

  constructor() {
    const bus = new Bus()
    bus.subscribe((event, directory) => this.heard.push({ event, directory }))
    this.executions = new Executions(bus)
  }

  start(call: Partial<Call> = {}): Execution {
    return this.executions.start({
      clientID: 'x1',
      tool: 'client_x1_a',
      requestID: 'req-1',
      sessionID: 'ses_1',
      messageID: 'msg_1',
      callID: 'call_1',
      input: {},
      timeout: 30_000,
      directory: '/here',
      ...call,
    })
  }

  /** The events since the last call, in the format in which they are sent. */
  drain(): string[] {
    return this.heard.splice(0).map(({ event, directory }) => `${directory} ${JSON.stringify(event)}`)
  }

  /** The types of the events since the last call. */
  types(): string[] {
    return this.heard.splice(0).map(({ event }) => event.type.replace('client-tool.', ''))
  }

  requestIDs(): string[] {
    return this.heard.flatMap(({ event }) =>
      event.type === 'client-tool.request' ? [event.properties.request.requestID] : [],
    )
  }
}

/** The outcome, if the execution has ended. */
async function settled({ outcome }: Execution): Promise<Outcome | 'waiting'> {
  await vi.advanceTimersByTimeAsync(0)
  return Promise.race([outcome, Promise.resolve('waiting' as const)])
}

const success = { status: 'success', title: 't', output: 'o' } as const
const call = '"sessionID":"ses_1","messageID":"msg_1","callID":"call_1","tool":"client_x1_a","clientID":"x1"'

describe('an execution (CT 6, 8.1)', () => {
  it('publishes its start before its request', () => {
    const f = new Fixture()
    f.start({ input: { b: 1, a: 2 } })
    expect(f.drain()).toEqual([
      `/here {"type":"client-tool.executing","properties":{${call}}}`,
      '/here {"type":"client-tool.request","properties":{"clientID":"x1","request":{"type":"client-tool-request","requestID":"req-1","sessionID":"ses_1","messageID":"msg_1","callID":"call_1","tool":"client_x1_a","input":{"b":1,"a":2}}}}',
    ])
  })

  it('completes with a success result, published where the result was posted', async () => {
    const f = new Fixture()
    const execution = f.start()
    f.drain()
    const metadata = { n: 1 }
    const sent = { ...success, metadata, attachments: [1] }
    expect(f.executions.settle('req-1', sent, '/poster')).toBe(true)
    expect(f.drain()).toEqual([`/poster {"type":"client-tool.completed","properties":{${call},"success":true}}`])
    expect(JSON.stringify(await execution.outcome)).toBe(
      '{"type":"success","result":{"status":"success","title":"t","output":"o","metadata":{"n":1}},"attachments":[1]}',
    )
    expect(vi.getTimerCount()).toBe(0)
  })

  it('has no metadata if none was sent', async () => {
    const f = new Fixture()
    const execution = f.start()
    f.executions.settle('req-1', success, '/here')
    expect(await execution.outcome).toEqual({ type: 'success', result: success })
  })

  it.each(['boom', ''])('fails with the error text %j of its client', async (error) => {
    const f = new Fixture()
    const execution = f.start()
    f.drain()
    expect(f.executions.settle('req-1', { status: 'error', error }, '/poster')).toBe(true)
    expect(f.drain()).toEqual([`/poster {"type":"client-tool.failed","properties":{${call},"error":"${error}"}}`])
    expect(await execution.outcome).toEqual({ type: 'failure', error })
  })

  it('accepts only the first result', () => {
    const f = new Fixture()
    f.start()
    const results = Array.from({ length: 8 }, () => f.executions.settle('req-1', success, '/here'))
    expect(results.filter(Boolean)).toHaveLength(1)
    expect(results[0]).toBe(true)
    expect(f.types()).toEqual(['executing', 'request', 'completed'])
  })

  it('publishes its end before its caller gets the response (S13)', async () => {
    const f = new Fixture()
    const order: string[] = []
    const told = f.start().outcome.then(() => order.push('told'))
    f.executions.settle('req-1', success, '/here')
    order.push(...f.types())
    await told
    expect(order).toEqual(['executing', 'request', 'completed', 'told'])
  })

  it.each(['', 'never', '__proto__', 'constructor'])('is not found under the request ID %j', (id) => {
    const f = new Fixture()
    f.start()
    expect(f.executions.settle(id, success, '/here')).toBe(false)
    expect(f.types()).toEqual(['executing', 'request'])
  })
})

describe('the timeout (CT 8.1)', () => {
  it('fails the execution in its own directory, and names the milliseconds that apply', async () => {
    const f = new Fixture()
    const execution = f.start({ timeout: 400 })
    f.drain()
    await vi.advanceTimersByTimeAsync(399)
    expect(await settled(execution)).toBe('waiting')
    await vi.advanceTimersByTimeAsync(1)
    const error = 'Client tool execution timed out after 400ms'
    expect(await settled(execution)).toEqual({ type: 'timeout', error })
    expect(f.drain()).toEqual([`/here {"type":"client-tool.failed","properties":{${call},"error":"${error}"}}`])
    expect(f.executions.settle('req-1', success, '/here')).toBe(false)
  })

  it('can be as long as a timer allows', async () => {
    const f = new Fixture()
    const execution = f.start({ timeout: maxTimeout })
    await vi.advanceTimersByTimeAsync(maxTimeout - 1)
    expect(await settled(execution)).toBe('waiting')
    await vi.advanceTimersByTimeAsync(1)
    expect(await settled(execution)).toMatchObject({ error: 'Client tool execution timed out after 2147483647ms' })
  })
})

describe('disconnect (CT 5.1)', () => {
  it('fails the pending executions of this client, in the order of the calls and in the directory of the stream', async () => {
    const f = new Fixture()
    const [first, other, second] = [
      f.start({ requestID: 'y', callID: '1' }),
      // Ownership depends on the client, not on the request ID (CT 12, D13).
      f.start({ requestID: 'x1_z', clientID: 'x2' }),
      f.start({ requestID: 'x', callID: '2', directory: '/there' }),
    ]
    f.drain()
    f.executions.disconnect('x1', '/stream')
    expect(f.heard.map(({ event, directory }) => [directory, event.type, event.properties])).toMatchObject([
      ['/stream', 'client-tool.failed', { callID: '1', error: 'Client disconnected' }],
      ['/stream', 'client-tool.failed', { callID: '2', error: 'Client disconnected' }],
    ])
    const failure = { type: 'failure', error: 'Client disconnected' }
    expect([await settled(first), await settled(second), await settled(other)]).toEqual([failure, failure, 'waiting'])
    expect(['x', 'y', 'x1_z'].map((id) => f.executions.settle(id, success, '/'))).toEqual([false, false, true])
  })
})

describe('withdraw (CT 4.4)', () => {
  it('removes the execution without an event', async () => {
    const f = new Fixture()
    const execution = f.start()
    f.drain()
    execution.withdraw()
    expect(await execution.outcome).toEqual({ type: 'withdrawn' })
    expect(f.executions.settle('req-1', success, '/here')).toBe(false)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(f.drain()).toEqual([])
  })

  it('does not affect a later execution with the same ID', async () => {
    const f = new Fixture()
    const earlier = f.start()
    f.executions.settle('req-1', success, '/here')
    const later = f.start()
    earlier.withdraw()
    expect(await settled(later)).toBe('waiting')
    expect(f.executions.has('req-1')).toBe(true)
  })
})

describe('request IDs (CT 8.2, S12)', () => {
  it('consist of client, call and time, and get a number if that ID is pending', () => {
    const f = new Fixture()
    for (let i = 0; i < 3; i++) f.start({ requestID: '' })
    f.start({ requestID: '', callID: '' })
    expect(f.requestIDs()).toEqual([
      `x1_call_1_${now}`,
      `x1_call_1_${now}_2`,
      `x1_call_1_${now}_3`,
      `x1__${now}`,
    ])
  })

  it('can be used again after the execution has ended', () => {
    const f = new Fixture()
    f.start({ requestID: '' })
    f.executions.settle(`x1_call_1_${now}`, success, '/here')
    f.start({ requestID: '' })
    expect(f.requestIDs()).toEqual([`x1_call_1_${now}`, `x1_call_1_${now}`])
  })

  it('are not replaced while they are pending', () => {
    const f = new Fixture()
    f.start()
    f.drain()
    expect(f.executions.has('req-1')).toBe(true)
    expect(() => f.start()).toThrow('request ID "req-1" is already pending')
    expect(f.drain()).toEqual([])
  })
})

describe('stop (S19, S32)', () => {
  it('fails all pending executions in their directories, and fails later calls without an event', async () => {
    const f = new Fixture()
    const waiting = [f.start({ requestID: 'b' }), f.start({ requestID: 'a', clientID: 'x2', directory: '/there' })]
    f.drain()
    f.executions.stop()
    expect(f.heard.map(({ event, directory }) => [directory, event.type, event.properties])).toMatchObject([
      ['/here', 'client-tool.failed', { clientID: 'x1', error: 'Server is shutting down' }],
      ['/there', 'client-tool.failed', { clientID: 'x2', error: 'Server is shutting down' }],
    ])
    f.drain()
    const late = f.start({ requestID: 'late' })
    const failure = { type: 'failure', error: 'Server is shutting down' }
    expect(await Promise.all([...waiting, late].map(settled))).toEqual([failure, failure, failure])
    expect(f.drain()).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })
})
