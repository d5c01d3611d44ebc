import { afterEach, beforeEach, expect, vi } from 'vitest'
import { type Client, type ClientOptions, createClient } from '../index.ts'
import { fakeClock } from './fake-clock.ts'
import { type Received, ScriptedServer } from './scripted-server.ts'

export const register = 'POST /client-tools/register'
export const pending = 'GET /client-tools/pending/c1'
export const result = 'POST /client-tools/result'
export const definition = { description: 'd', parameters: { type: 'object' } } as const

/** What a client reported, in order; the test may wait for it. */
export class Reports<T> {
  readonly all: T[] = []
  #waiting: (() => void) | undefined

  readonly add = (item: T): void => {
    this.all.push(item)
    this.#waiting?.()
  }

  /** Resolves when there are this many. */
  async count(n: number): Promise<T[]> {
    while (this.all.length < n) await new Promise<void>((resolve) => (this.#waiting = resolve))
    return this.all
  }
}

export interface Fixture {
  server: ScriptedServer
  client: Client
  errors: Reports<unknown>
  reconnects: Reports<[number, number]>
  /** Connects the client, and returns its open stream. */
  connect: () => Promise<Received>
}

export async function newFixture(options: Partial<ClientOptions> = {}): Promise<Fixture> {
  const server = await ScriptedServer.start()
  const [errors, reconnects] = [new Reports<unknown>(), new Reports<[number, number]>()]
  const client = createClient({
    baseUrl: server.url, clientID: 'c1', onError: errors.add,
    onReconnect: (...report) => {
      reconnects.add(report)
    },
    ...options,
  })
  const connect = async (): Promise<Received> => {
    const connecting = client.tools.connect()
    ;(await server.next(register)).reply(200)
    const stream = await server.next(pending)
    await connecting
    return stream.open()
  }
  return { server, client, errors, reconnects, connect }
}

/**
 * Fakes the clock of the library and starts a fixture for each test. After it, nothing may be left: no timer, and no request that
 * the test did not expect.
 */
export function useFixture(options: Partial<ClientOptions> = {}): Fixture {
  const current = {} as Fixture // filled before each test
  let endClock = (): void => undefined
  beforeEach(async () => {
    endClock = fakeClock()
    Object.assign(current, await newFixture(options))
  })
  afterEach(async () => {
    await current.client.tools.disconnect()
    const [timers, waiting] = [vi.getTimerCount(), current.server.waiting]
    endClock()
    await current.server.close()
    expect({ timers, waiting }).toEqual({ timers: 0, waiting: 0 })
  })
  return current
}

/** A request of the server for a tool of the client c1. */
export function toolRequest(tool: string, input?: unknown, requestID = 'r1'): object {
  return {
    type: 'client-tool-request', requestID, sessionID: 's1', messageID: 'm1', callID: 'k1', tool: `client_c1_${tool}`,
    ...(input === undefined ? {} : { input }),
  }
}
