import { AsyncLocalStorage } from 'node:async_hooks'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventually } from '../testing/eventually.ts'
import { temporaryRoot } from '../testing/temporary-root.ts'
import { recordingLogger, type LogEntry } from '../testing/test-app.ts'
import { Upstream, plain, type Script } from '../testing/upstream.ts'
import type { PriceList } from './price-list.ts'
import { Prices } from './prices.ts'

/** The time at which each test starts, in seconds. */
const start = 1_765_000_000
const [minute, day] = [60, 86_400]

/** A list with a price of one model. */
function listOf(model: string): Script {
  return plain(200, { data: [{ id: `a/${model}`, pricing: { prompt: '1', completion: '2' } }] })
}

const failure = plain(500, '')

// The second that a request waits is over when a test says so, however busy the machine is.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})

afterEach(() => {
  vi.useRealTimers()
})

class Rig {
  readonly prices: Prices
  readonly upstream: Upstream
  readonly logs: LogEntry[]
  readonly file: string
  /** The time of the clock in seconds. */
  now = start

  private constructor(upstream: Upstream, isKept: boolean) {
    const directory = join(temporaryRoot(), 'cache')
    const { logger, entries } = recordingLogger()
    const environment = { GOOSE_PRICING_URL: `${upstream.url}/canary`, ...(isKept && { GOOSE_CACHE_DIR: directory }) }
    this.prices = new Prices(environment, logger, () => this.now * 1000)
    this.upstream = upstream
    this.logs = entries
    this.file = join(directory, 'pricing_cache.json')
  }

  static async open({ isKept = true } = {}): Promise<Rig> {
    return new Rig(await Upstream.start(), isKept)
  }

  /** Asks for all prices at a time after the start, and returns their models. */
  async all(after: number): Promise<string[]> {
    this.now = start + after
    return models(await this.prices.all())
  }

  /** The same without a fetch. */
  async known(after: number): Promise<string[]> {
    this.now = start + after
    return models(await this.prices.known())
  }

  get fetches(): number {
    return this.upstream.asked.length
  }

  write(model: string, after: number): void {
    mkdirSync(join(this.file, '..'), { recursive: true })
    const pricing = { a: { [model]: { input_cost: 1, output_cost: 2 } } }
    writeFileSync(this.file, JSON.stringify({ pricing, fetched_at: start + after }))
  }
}

function models(list: PriceList): string[] {
  return [...list.values()].flatMap((ofProvider) => [...ofProvider.keys()])
}

describe('a fetch (G70)', () => {
  it('does not start within 60 s of the end of one that failed, unless the clock was set back', async () => {
    const rig = await Rig.open()
    for (let i = 0; i < 3; i++) rig.upstream.answers(failure)
    expect([await rig.all(0), await rig.all(1), await rig.all(minute - 1), rig.fetches]).toEqual([[], [], [], 1])
    expect([await rig.all(minute), rig.fetches]).toEqual([[], 2])
    expect([await rig.all(-minute), rig.fetches]).toEqual([[], 3])
    rig.upstream.answers(listOf('b'))
    expect([await rig.all(0), rig.fetches]).toEqual([['b'], 4])
    expect(rig.logs).toEqual(Array(3).fill({ level: 'warn', message: 'prices not fetched', fields: { why: 'status 500' } }))
  })

  it('starts when the prices are a day old, and the request does not wait for it', async () => {
    const rig = await Rig.open()
    rig.upstream.answers(listOf('old')).answers(listOf('new'))
    expect([await rig.all(0), await rig.all(day - 1), rig.fetches]).toEqual([['old'], ['old'], 1])
    expect(await rig.all(day)).toEqual(['old'])
    await eventually(async () => { expect(await rig.known(day)).toEqual(['new']) })
    expect(JSON.parse(readFileSync(rig.file, 'utf8'))).toEqual({ pricing: { a: { new: { input_cost: 1, output_cost: 2, context_length: null } } }, fetched_at: start + day })
    expect([await rig.all(day), rig.fetches, rig.logs]).toEqual([['new'], 2, []])
  })

  it('goes on after the second that a request waits', async () => {
    const rig = await Rig.open()
    let send = (): void => undefined
    const asked = new Promise<void>((resolve) => rig.upstream.answers((response, request) => {
      send = () => void listOf('late')(response, request)
      resolve()
    }))
    let first: string[] | undefined
    const answers = [rig.all(0).then((found) => (first = found)), rig.all(0)]
    await asked
    await vi.advanceTimersByTimeAsync(999)
    expect(first).toBeUndefined()
    await vi.advanceTimersByTimeAsync(1)
    expect(await Promise.all(answers)).toEqual([[], []])
    const third = rig.all(2)
    send()
    expect([await third, rig.fetches]).toEqual([['late'], 1])
    expect(existsSync(rig.file)).toBe(true)
  })

  it('ends without a result when the server stops, and none starts after that', async () => {
    const rig = await Rig.open()
    const asked = new Promise<void>((resolve) => rig.upstream.answers(() => { resolve() }))
    const all = rig.all(0)
    await asked
    rig.prices.stop()
    expect(await all).toEqual([])
    expect([await rig.all(day), rig.fetches, rig.logs, existsSync(rig.file)]).toEqual([[], 1, [], false])
  })

  it('belongs to no request, and neither do its lines of the log (T19)', async () => {
    const upstream = (await Upstream.start()).answers(failure)
    const request = new AsyncLocalStorage<string>()
    const { logger } = recordingLogger()
    const owners: unknown[] = []
    logger.warn = () => { owners.push(request.getStore()) }
    const prices = new Prices({ GOOSE_PRICING_URL: upstream.url }, logger)
    await request.run('a request', () => prices.all())
    expect(owners).toEqual([undefined])
  })
})

it.each([['none', []], ['', []], ['http://user@host/', ['prices are never fetched']], ['/list', ['prices are never fetched']]])(
  'the address %j gives the warnings %j', (GOOSE_PRICING_URL, warnings) => {
    const { logger, entries } = recordingLogger()
    new Prices({ GOOSE_PRICING_URL }, logger)
    expect(entries.map(({ message }) => message)).toEqual(warnings)
    expect(JSON.stringify(entries)).not.toContain('user@host')
  },
)

describe('the prices in use (G69)', () => {
  it('are the fetched ones for 7 days if there is no directory for the file', async () => {
    const rig = await Rig.open({ isKept: false })
    rig.upstream.answers(listOf('b'))
    expect(await rig.all(0)).toEqual(['b'])
    expect([await rig.known(7 * day - 1), await rig.known(7 * day), await rig.known(-1)]).toEqual([['b'], [], []])
    expect(rig.logs).toEqual([])
  })

  it('are those of the file unless it is older than the fetched ones, or from the future', async () => {
    const rig = await Rig.open()
    rig.upstream.answers(listOf('fetched'))
    expect(await rig.all(0)).toEqual(['fetched'])
    rig.write('older', -1)
    expect(await rig.known(1)).toEqual(['fetched'])
    rig.write('same', 0)
    expect(await rig.known(1)).toEqual(['same'])
    rig.write('future', 2)
    expect([await rig.known(1), await rig.known(2)]).toEqual([['fetched'], ['future']])
    expect([await rig.known(7 * day + 1), await rig.known(7 * day + 2)]).toEqual([['future'], []])
  })

  it('are the fetched ones if their file would have more than 16 MiB', async () => {
    const rig = await Rig.open()
    // Two bytes, and three in lower case.
    rig.upstream.answers(plain(200, { data: [{ id: `${'İ'.repeat(6 << 20)}/m`, pricing: { prompt: '1', completion: '2' } }] }))
    expect([await rig.all(0), existsSync(rig.file)]).toEqual([['m'], false])
    expect(rig.logs).toMatchObject([{ level: 'warn', message: 'prices not written', fields: { file: rig.file, err: new RangeError('the file would have more than 16777216 bytes') } }])
  })
})
