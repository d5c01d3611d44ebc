import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Bodies, bodyIsDecoded, isJsonType, readBody } from './body.ts'
import { BodyTooLargeError, BodyTooSlowError, BusyError } from './errors.ts'

describe('isJsonType (CT 3.4 step 3)', () => {
  it.each([
    'application/json',
    'application/json;charset=utf-8',
    'application/json; charset="utf-8"',
    'application/json; a=b; c=d',
    'application/ld+json;q=1',
    'application/vnd.api+json',
    'application/problem+json; charset=utf-8',
    'application/json; \ta="b, c" ; d=e',
    'application/json; a=b,c',
    'application/json; a="b',
    'application/json; a="b,c"',
    'application/json; a=b, application/json',
    'application/json; a==',
    'application/json; a= ;b=c',
  ])('accepts %j', (type) => {
    expect(isJsonType(type)).toBe(true)
  })

  it.each([
    null,
    '',
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'APPLICATION/JSON',
    'application/JSON',
    'application/jsonx',
    'application/vnd.api2+json',
    'application/a+b+json',
    'application/a_b+json',
    'application/+json',
    'application/json, x',
    'application/json, application/json',
    'application/json, a=b',
    'application/json;',
    'application/json; a="b;c"',
    'application/json; a=b;;c=d',
    'application/json; a_b=c',
    'application/json; a =b',
    'application/json\u00a0', // a byte that header fields do not treat as a blank
    'application/json;\u00a0a=b',
    'application/json; charset',
    'application/json; charset=',
    'application/json ; charset=utf-8',
    'xapplication/json',
    '*/*',
  ])('does not accept %j', (type) => {
    expect(isJsonType(type)).toBe(false)
  })
})

it.each([
  ['parameters', 'application/json' + ';a="b"'.repeat(10_000)],
  ['blanks before a name', 'application/json;' + ' '.repeat(60_000) + 'a=b'],
  ['blanks in a value', 'application/json;a=b' + ' '.repeat(60_000)],
  ['commas', 'application/json;a=b' + ','.repeat(60_000)],
])('isJsonType takes linear time for many %s', (_, type) => {
  expect([isJsonType(type), isJsonType(type + ';')]).toEqual([true, false])
})

/** A body that arrives in parts, and a count of the parts that were read. */
function parts(...texts: string[]): { request: (headers?: Record<string, string>) => Request; taken: () => number } {
  let taken = 0
  const body = new ReadableStream(
    {
      pull(controller) {
        const text = texts[taken++]
        if (text === undefined) controller.close()
        else controller.enqueue(Buffer.from(text))
      },
    },
    { highWaterMark: 0 },
  )
  return {
    request: (headers = {}) => new Request('http://x/', { method: 'POST', body, duplex: 'half', headers }),
    taken: () => taken,
  }
}

describe('readBody (S6)', () => {
  it('joins the parts, up to the limit', async () => {
    const body = await readBody(parts('ab', '', 'cd').request(), 4)
    expect(Buffer.from(body).toString()).toBe('abcd')
  })

  it('is empty without a body', async () => {
    expect(await readBody(new Request('http://x/', { method: 'POST' }), 0)).toHaveLength(0)
  })

  it('stops reading at the part that exceeds the limit', async () => {
    const { request, taken } = parts('ab', 'cde', 'f')
    await expect(readBody(request(), 4)).rejects.toThrow(BodyTooLargeError)
    expect(taken()).toBe(2)
  })

  it('reads nothing if the declared length is above the limit', async () => {
    const { request, taken } = parts('ab')
    await expect(readBody(request({ 'Content-Length': '5' }), 4)).rejects.toThrow(BodyTooLargeError)
    expect(taken()).toBe(0)
  })
})

/** A request whose body arrives when the test says so. */
function sent(): { request: Request; send: (bytes: number) => Promise<void>; end: () => void } {
  let controller!: ReadableStreamDefaultController<Uint8Array>
  let wanted = (): void => undefined
  const body = new ReadableStream<Uint8Array>({
    start: (one) => {
      controller = one
    },
    pull: () => new Promise<void>((resolve) => (wanted = resolve)),
  }, { highWaterMark: 0 })
  return {
    request: new Request('http://x/', { method: 'POST', body, duplex: 'half' }),
    send: async (bytes) => {
      controller.enqueue(new Uint8Array(bytes))
      wanted()
      await new Promise(setImmediate)
    },
    end: () => {
      controller.close()
    },
  }
}

const mebi = 1024 * 1024

describe('the bodies of all requests (S40)', () => {
  /** Reads a body, and keeps the request open until the test answers it. */
  function begin(bodies: Bodies, one: { request: Request }): { read: Promise<number>; answer: () => void } {
    let answer = (): void => undefined
    let read!: Promise<number>
    void bodies.admit(one.request, async () => {
      read = readBody(one.request, 50 * mebi).then((bytes) => bytes.length)
      await Promise.all([read.catch(() => 0), new Promise<void>((resolve) => (answer = resolve))])
      return new Response()
    })
    return { read, answer: () => { answer() } }
  }

  it('have at most 64 MiB until their requests are answered', async () => {
    const bodies = new Bodies()
    const [first, second, third, fourth] = [sent(), sent(), sent(), sent()] as const
    const a = begin(bodies, first)
    const b = begin(bodies, second)
    await first.send(50 * mebi)
    await second.send(14 * mebi)
    const c = begin(bodies, third)
    const refused = expect(c.read).rejects.toThrow(BusyError)
    await third.send(1)
    await refused
    first.end()
    expect(await a.read).toBe(50 * mebi)
    a.answer()
    await new Promise(setImmediate)
    const d = begin(bodies, fourth)
    await fourth.send(50 * mebi)
    fourth.end()
    expect(await d.read).toBe(50 * mebi)
    second.end()
    expect(await b.read).toBe(14 * mebi)
  })

  it('do not count once they are decoded', async () => {
    const bodies = new Bodies()
    const [first, second] = [sent(), sent()]
    const a = begin(bodies, first)
    await first.send(40 * mebi)
    first.end()
    await a.read
    bodyIsDecoded(first.request)
    const b = begin(bodies, second)
    await second.send(40 * mebi)
    second.end()
    expect(await b.read).toBe(40 * mebi)
  })
})

describe('a slow body (S41)', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })

  afterEach(() => {
    vi.useRealTimers()
  })

  function read(one: { request: Request }, graceMs?: number): { outcome: () => string; settled: Promise<unknown> } {
    let outcome = 'waits'
    const settled = new Bodies(graceMs).admit(one.request, async () => {
      await readBody(one.request, mebi).then(() => (outcome = 'read'), (error: unknown) => (outcome = error instanceof BodyTooSlowError ? 'too slow' : String(error)))
      return new Response()
    })
    return { outcome: () => outcome, settled }
  }

  it('has ten seconds, and then 1,024 bytes per second', async () => {
    const one = sent()
    const { outcome, settled } = read(one)
    await one.send(11 * 1024)
    vi.advanceTimersByTime(10_999)
    await new Promise(setImmediate)
    expect(outcome()).toBe('waits')
    await one.send(1024)
    vi.advanceTimersByTime(1000)
    expect(outcome()).toBe('waits')
    vi.advanceTimersByTime(1)
    await settled
    expect(outcome()).toBe('too slow')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('has the configured time', async () => {
    const one = sent()
    const { outcome, settled } = read(one, 500)
    vi.advanceTimersByTime(499)
    expect(outcome()).toBe('waits')
    vi.advanceTimersByTime(1)
    await settled
    expect(outcome()).toBe('too slow')
  })

  it('may not pause for thirty seconds', async () => {
    const one = sent()
    const { outcome, settled } = read(one)
    await one.send(500_000)
    vi.advanceTimersByTime(29_999)
    expect(outcome()).toBe('waits')
    vi.advanceTimersByTime(1)
    await settled
    expect(outcome()).toBe('too slow')
  })

  it('is read when it has arrived', async () => {
    const one = sent()
    const { outcome, settled } = read(one)
    await one.send(5)
    one.end()
    await settled
    expect([outcome(), vi.getTimerCount()]).toEqual(['read', 0])
  })
})

it('a body in a million pieces takes little more than its size', async () => {
  let left = 1_000_000
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      for (let i = 0; i < 1000; i++) controller.enqueue(Uint8Array.of(left-- & 0xff))
      if (left === 0) controller.close()
    },
  })
  const bytes = await readBody(new Request('http://x/', { method: 'POST', body, duplex: 'half' }), mebi)
  expect(bytes).toHaveLength(1_000_000)
  expect([bytes[0], bytes.at(-1)]).toEqual([1_000_000 & 0xff, 1])
})
