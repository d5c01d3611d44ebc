import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it } from 'vitest'
import { EventStream, type CloseReason, type QueueLimits } from '../sse/event-stream.ts'
import { streamResponse } from '../sse/stream-response.ts'
import { eventually } from '../../testing/eventually.ts'
import { RawClient, request } from '../../testing/raw-client.ts'
import { recordingLogger, type LogEntry } from '../../testing/test-app.ts'
import type { Fetch } from './exchange.ts'
import { HttpServer } from './http-server.ts'
import { json, jsonPieces, text } from '../response.ts'

/*
 * Tests that need a real connection. None of them waits for the clock: every wait ends with a byte, the end of a connection, or a
 * call of `fetch`.
 */

const cleanups: (() => Promise<void> | void)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** A server on a free port of the loopback interface. */
async function serve(
  fetch: Fetch,
  lingerMs?: number,
  maxWaiting?: number,
  patienceMs?: number,
): Promise<{ server: HttpServer; connect: () => Promise<RawClient>; logs: LogEntry[] }> {
  const { logger, entries } = recordingLogger()
  const server = new HttpServer(fetch, logger, { lingerMs, maxWaiting, patienceMs })
  const { port } = await server.listen('127.0.0.1', 0)
  cleanups.push(async () => {
    server.stopAccepting()
    await server.drain(0)
  })
  const connect = async (): Promise<RawClient> => {
    const client = await RawClient.open(`http://127.0.0.1:${port}`)
    cleanups.push(() => {
      client.close()
    })
    return client
  }
  return { server, connect, logs: entries }
}

/** Responds with what the server understood of the request. */
const echo: Fetch = async (request) =>
  json(200, {
    method: request.method,
    path: new URL(request.url).pathname,
    body: await request.text(),
  })

/** Collects garbage, as a long-lived server does sooner or later. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void // the flag makes `gc` available
  collect()
}

/** A fetch that opens an event stream for each request, and promises for the opening and closing of the last one. */
function streaming(limits?: QueueLimits): {
  fetch: Fetch
  opened: Promise<EventStream>
  closed: Promise<CloseReason>
} {
  let open!: (stream: EventStream) => void
  let close!: (reason: CloseReason) => void
  const opened = new Promise<EventStream>((resolve) => (open = resolve))
  const closed = new Promise<CloseReason>((resolve) => (close = resolve))
  const fetch: Fetch = () => {
    const stream = new EventStream(close, limits)
    open(stream)
    return Promise.resolve(streamResponse(stream))
  }
  return { fetch, opened, closed }
}

interface Reading {
  server: HttpServer
  client: RawClient
  logs: LogEntry[]
}

/** A server, and a client that has requested a stream and has read its head. */
async function reading(fetch: Fetch, lingerMs?: number): Promise<Reading> {
  const { server, connect, logs } = await serve(fetch, lingerMs)
  const client = await connect()
  client.send(request('GET /'))
  await client.head()
  return { server, client, logs }
}

describe('a response', () => {
  it('has a length, and keeps the connection open for the next request', async () => {
    const { connect } = await serve(() => Promise.resolve(text(200, 'ok')))
    const client = await connect()
    for (let i = 0; i < 2; i++) {
      client.send(request('GET /'))
      const { head, body } = await client.answer()
      expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text\/plain; charset=utf-8\r\n/)
      expect(head).toMatch(/\r\nConnection: keep-alive\r\nKeep-Alive: timeout=60\r\n/)
      expect(head).not.toMatch(/transfer-encoding/i)
      expect(body).toBe('ok')
    }
  })

  it('to HEAD has only a head', async () => {
    const { connect } = await serve(() =>
      Promise.resolve(new Response(null, { headers: { 'Content-Length': '5', 'Content-Type': 'x/y' } })),
    )
    const client = await connect()
    client.send(request('HEAD /') + request('HEAD /'))
    expect(await client.head()).toContain('\r\nContent-Length: 5\r\n')
    expect(await client.head()).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })

  it('of 204 has no length', async () => {
    const { connect } = await serve(() => Promise.resolve(new Response(null, { status: 204 })))
    const client = await connect()
    client.send(request('OPTIONS /'))
    expect(await client.head()).not.toMatch(/content-length|transfer-encoding/i)
  })

  it('is 500 when the handler fails, and the reason is logged (G12)', async () => {
    const { connect, logs } = await serve(() => Promise.reject(new Error('broken')))
    const client = await connect()
    client.send(request('GET /'))
    const { status, head, body } = await client.answer()
    expect([status, body]).toEqual([500, ''])
    expect(head).toContain('Access-Control-Allow-Origin: *')
    expect(logs).toMatchObject([{ level: 'error', message: 'answer failed', fields: { err: { message: 'broken' } } }])
  })

  it('is sent to a caller that has closed its sending side, before the connection is closed', async () => {
    const { connect } = await serve(echo)
    const client = await connect()
    client.socket.end(request('POST /x', ['Content-Length: 2'], 'ab'))
    expect((await client.answer()).body).toBe('{"method":"POST","path":"/x","body":"ab"}')
    expect(await client.ended()).toBe('')
  })

  it('to pipelined requests is sent in their order, one after the other', async () => {
    const running: string[] = []
    let most = 0
    const { connect } = await serve(async (request) => {
      const path = new URL(request.url).pathname
      running.push(path)
      most = Math.max(most, running.length)
      if (path === '/slow') await nextTurn()
      running.pop()
      return text(200, path)
    })
    const client = await connect()
    client.send(request('GET /slow') + request('POST /slow', ['Content-Length: 1'], 'x') + request('GET /c'))
    expect([(await client.answer()).body, (await client.answer()).body, (await client.answer()).body]).toEqual([
      '/slow',
      '/slow',
      '/c',
    ])
    expect(most).toBe(1)
  })

  it('is not sent to a caller with too many pipelined requests', async () => {
    let gone: AbortSignal | undefined
    const { connect, logs } = await serve(({ signal }) => {
      gone = signal
      return new Promise(() => undefined)
    }, undefined, 3)
    const [patient, other] = [await connect(), await connect()]
    other.send(request('GET /a'))
    patient.send(request('GET /a') + request('GET /b').repeat(3) + request('GET /c').slice(0, -1))
    other.send(request('GET /b').repeat(4))
    expect(await other.ended()).toBe('')
    expect(logs).toEqual([{ level: 'warn', message: 'too many requests at once, connection cut', fields: { waiting: 3 } }])
    patient.send('\n')
    expect(await patient.ended()).toBe('')
    expect(logs).toHaveLength(2)
    expect(gone?.aborted).toBe(true)
  })
})

describe('a request', () => {
  it('has its body, with or without a declared length', async () => {
    const { connect } = await serve(echo)
    const client = await connect()
    client.send(request('POST /a', ['Content-Length: 3'], 'abc'))
    expect((await client.answer()).body).toContain('"body":"abc"')
    client.send(request('DELETE /a', ['Transfer-Encoding: chunked'], '2;x=y\r\nab\r\n1\r\nc\r\n0\r\nX: y\r\n\r\n'))
    expect((await client.answer()).body).toBe('{"method":"DELETE","path":"/a","body":"abc"}')
    client.send(request('POST /a'))
    expect((await client.answer()).body).toContain('"body":""')
  })

  it('may have raw UTF-8 in its target, on every connection and every time (CT 3.3)', async () => {
    const { connect } = await serve(echo)
    const client = await connect()
    for (let i = 0; i < 2; i++) {
      client.send(request('GET /\xc5\xbc/\xff?\xc5\xbc'))
      expect((await client.answer()).body).toContain('"path":"/%C5%BC/%FF"')
      client.send(request('POST /b', ['Content-Length: 2'], '\xc5\xbc'))
      expect((await client.answer()).body).toContain('"body":"\xc5\xbc"')
    }
  })

  it.each<[line: string, method: string, path: string]>([
    ['GET /a\\b', 'GET', '/a/b'],
    ['GET /a/%2e%2E/%zz', 'GET', '/%zz'],
    ['GET http://other:99/a', 'GET', '/a'],
    ['OPTIONS *', 'OPTIONS', '/*'],
    ['TRACE /a', 'TRACE', '/a'],
    ['PROPFIND //a/', 'PROPFIND', '//a/'],
  ])('%s is %s of %s', async (line, method, path) => {
    const { connect } = await serve(echo)
    const client = await connect()
    client.send(request(line))
    expect((await client.answer()).body).toBe(JSON.stringify({ method, path, body: '' }))
  })

  it('that expects 100 gets it only if the body is wanted', async () => {
    const { connect } = await serve(async (request) =>
      new URL(request.url).pathname === '/read' ? echo(request) : Promise.resolve(text(413, 'no')),
    )
    const client = await connect()
    const asking = ['Content-Length: 2', 'Expect: 100-continue']
    client.send(request('POST /read', asking))
    expect(await client.head()).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    client.send('ab')
    expect((await client.answer()).body).toContain('"body":"ab"')
    client.send(request('POST /refuse', asking))
    expect((await client.answer()).status).toBe(413)
  })

  it('can be followed by another even if its body was not read', async () => {
    const { connect } = await serve(async (request) => {
      if (request.body === null) return text(200, 'next')
      const reader = request.body.getReader()
      await reader.read()
      await reader.cancel()
      return text(413, 'no')
    })
    const client = await connect()
    client.send(request('POST /', ['Transfer-Encoding: chunked'], '1\r\na\r\n'))
    expect((await client.answer()).status).toBe(413)
    client.send('80000\r\n' + 'x'.repeat(0x80000) + '\r\n0\r\n\r\n' + request('GET /'))
    expect((await client.answer()).body).toBe('next')
  })

  it('can be followed by another even before its body has been skipped', async () => {
    const lingerMs = 20
    const { connect } = await serve((one) => Promise.resolve(text(one.body === null ? 200 : 415, 'no')), lingerMs)
    const client = await connect()
    client.send(request('POST /', ['Content-Length: 5'], 'ab'))
    expect((await client.answer()).status).toBe(415)
    for (const rest of ['c', 'd', 'e' + request('GET /')]) {
      client.send(rest)
      // The bytes have reached the system, but the process is too busy to read them.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * lingerMs)
      await nextTurn()
    }
    expect((await client.answer()).status).toBe(200)
  })

  it('whose rejected body never arrives does not keep its connection open', async () => {
    const { connect } = await serve(() => Promise.resolve(text(413, 'no')), 0)
    const client = await connect()
    client.send(request('POST /', ['Content-Length: 5'], 'ab'))
    expect((await client.answer()).status).toBe(413)
    expect(await client.ended()).toBe('')
  })

  // Decision S52.
  it.each([
    ['without a host', 'GET / HTTP/1.1\r\n\r\n'],
    ['with two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n'],
    ['that is not HTTP', 'hello\r\n\r\n'],
    ['with two lengths', request('POST /', ['Content-Length: 1', 'Content-Length: 2'], 'xx')],
    ['with a host that is none', 'GET / HTTP/1.1\r\nHost: a b/\\?\r\n\r\n'],
    ['with a user in its host', 'GET / HTTP/1.1\r\nHost: u@h\r\n\r\n'],
    ['without a version', 'GET /\r\n\r\n'],
    ['of another version', 'GET / HTTP/2.0\r\nHost: x\r\n\r\n'],
    ['with another coding', request('POST /', ['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n')],
    ['with two codings', request('POST /', ['Transfer-Encoding: chunked, chunked'], '0\r\n\r\n')],
    ['with a coding in HTTP/1.0', 'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['with a length and a coding', request('POST /', ['Content-Length: 1', 'Transfer-Encoding: chunked'], '0\r\n\r\n')],
  ])('%s is rejected', async (_, bytes) => {
    const { connect, logs } = await serve(echo)
    const client = await connect()
    client.send(bytes)
    const { status, head, body } = await client.answer()
    expect([status, body]).toEqual([400, ''])
    expect(head).toContain('\r\nAccess-Control-Allow-Origin: *\r\n')
    expect(await client.ended()).toBe('')
    expect(logs).toEqual([])
  })

  it('that is not HTTP is rejected in its turn, after the earlier ones are answered', async () => {
    let answer!: () => void
    const { connect } = await serve((request) =>
      request.url.endsWith('/slow')
        ? new Promise((resolve) => {
            answer = () => {
              resolve(text(200, 'slow'))
            }
          })
        : Promise.resolve(text(200, 'fast')),
    )
    const client = await connect()
    client.send(request('GET /slow') + request('GET /') + 'hello\r\n\r\n' + request('GET /'))
    while ((answer as unknown) === undefined) await nextTurn()
    await nextTurn()
    expect(client.received).toBe('')
    answer()
    const answers = [await client.answer(), await client.answer(), await client.answer()]
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [200, 'slow'],
      [200, 'fast'],
      [400, ''],
    ])
    expect(await client.ended()).toBe('')
  })

  it('whose body breaks off while it waits is rejected in its turn', async () => {
    let answer!: (response: Response) => void
    const { connect } = await serve((request) =>
      request.url.endsWith('/slow') ? new Promise((resolve) => (answer = resolve)) : echo(request),
    )
    const client = await connect()
    client.send(request('GET /slow') + request('POST /', ['Transfer-Encoding: chunked'], '1\r\na\r\nx\r\n'))
    while ((answer as unknown) === undefined) await nextTurn()
    answer(text(200, 'slow'))
    expect((await client.answer()).body).toBe('slow')
    const { status, head } = await client.answer()
    expect(status).toBe(400)
    expect(head).toMatch(/^vary: origin/im) // like every response of this family
    expect(await client.ended()).toBe('')
  })

  it('with an invalid chunk in its body is rejected', async () => {
    const { connect, logs } = await serve(echo)
    const client = await connect()
    client.send(request('POST /', ['Transfer-Encoding: chunked'], '1\r\na\r\nx\r\n'))
    const { status, body } = await client.answer()
    expect([status, body]).toEqual([400, ''])
    expect(await client.ended()).toBe('')
    expect(logs).toEqual([])
  })

  it.each([
    ['a length', request('POST /', ['Content-Length: 10'], 'abc')],
    ['chunks', request('POST /', ['Transfer-Encoding: chunked'], '1\r\na\r\n')],
    ['chunks that lack only their end', request('POST /', ['Transfer-Encoding: chunked'], '1\r\na\r\n0\r\n')],
  ])('whose body has %s and is incomplete gets no response (S38)', async (_, bytes) => {
    const { connect, logs } = await serve(echo)
    const client = await connect()
    client.send(bytes)
    client.socket.end()
    expect(await client.ended()).toBe('')
    expect(logs).toEqual([])
  })

  it('whose body is incomplete gets at most one response, in its turn (S38)', async () => {
    const { connect } = await serve((one) => (one.url.endsWith('/refused') ? Promise.resolve(text(415, 'no')) : echo(one)))
    const client = await connect()
    client.send(request('GET /') + request('POST /refused', ['Content-Length: 10'], 'abc'))
    expect([(await client.answer()).status, (await client.answer()).status]).toEqual([200, 415])
    client.socket.end()
    expect(await client.ended()).toBe('')
    const other = await connect()
    other.send(request('GET /') + request('POST /', ['Content-Length: 10'], 'abc'))
    other.socket.end()
    expect((await other.answer()).status).toBe(200)
    expect(await other.ended()).toBe('')
  })

  it('that asks for another protocol is answered in HTTP/1.1', async () => {
    const { connect } = await serve(echo)
    const client = await connect()
    client.send(request('GET /a', ['Connection: Upgrade', 'Upgrade: websocket']))
    expect((await client.answer()).body).toContain('"path":"/a"')
  })

  it('with a head that is too long is rejected', async () => {
    const { connect } = await serve(echo)
    const client = await connect()
    client.send(request('GET /', [`X: ${'x'.repeat(40_000)}`]))
    expect((await client.answer()).status).toBe(200)
    client.send(request('GET /', [`X: ${'x'.repeat(70_000)}`]))
    expect((await client.answer()).status).toBe(431)
  })

  it('has all its header fields, however many there are', async () => {
    const { connect } = await serve(({ headers }) => Promise.resolve(json(200, headers.get('x-last'))))
    const client = await connect()
    client.send(request('GET /', [...Array.from({ length: 5000 }, (_, i) => `x-${i}: `), 'x-last: here']))
    expect((await client.answer()).body).toBe('"here"')
  })

  it.each([
    [['/A', '/B'], '/A, /B'],
    [['/B', ''], '/B, '],
    [['', '/B'], ', /B'],
    [['', ''], ', '],
    [[' /A ', '\t', ' /B '], '/A, , /B'],
  ])('joins the fields %j of one name (S5)', async (values, joined) => {
    const { connect } = await serve(({ headers }) =>
      Promise.resolve(json(200, headers.get('x-opencode-directory'))),
    )
    const client = await connect()
    client.send(request('GET /', values.map((value, i) => `${i === 0 ? 'x' : 'X'}-opencode-directory:${value}`)))
    expect((await client.answer()).body).toBe(JSON.stringify(joined))
  })

  it('needs no host in HTTP/1.0', async () => {
    const { connect } = await serve(echo)
    const client = await connect()
    client.send('GET /a HTTP/1.0\r\n\r\n')
    expect((await client.answer()).body).toContain('"path":"/a"')
    expect(await client.ended()).toBe('')
  })
})

describe('a request with two lengths (S42)', () => {
  it.each([
    ['Content-Length: 5', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: chunked', 'Content-Length: 5'],
    ['Content-Length: 0', 'transfer-encoding: gzip, chunked'],
    ['Content-Length: 5', 'Transfer-Encoding:'],
  ])('%s, %s is rejected, and its connection closed', async (...fields) => {
    const seen: string[] = []
    const { connect } = await serve((one) => {
      seen.push(one.url)
      return Promise.resolve(text(200, ''))
    })
    const client = await connect()
    client.send(request('POST /one', fields, `0\r\n\r\n${request('GET /two')}`))
    expect(await client.head()).toMatch(/^HTTP\/1\.1 400 /)
    expect(await client.ended()).toBe('')
    expect(seen).toEqual([])
  })
})

describe('a response with a length', () => {
  const piece = new Uint8Array(1024 * 1024).fill(0x78)
  const large: Fetch = () => Promise.resolve(jsonPieces(200, Array.from({ length: 64 }, () => piece)))

  it('may be read slowly, and is complete', async () => {
    const { connect } = await serve(large)
    const client = await connect()
    client.send(request('GET /'))
    await once(client.socket, 'data')
    client.socket.pause()
    await nextTurn()
    client.socket.resume()
    expect((await client.answer()).body).toHaveLength(64 * piece.length)
    client.send(request('GET /'))
    expect((await client.answer()).status).toBe(200)
  })

  it('is cancelled if its caller reads nothing', async () => {
    let asked = (): void => undefined
    const isAsked = new Promise<void>((resolve) => (asked = resolve))
    const { connect, server } = await serve((one) => {
      asked()
      return large(one)
    }, undefined, undefined, 50)
    const client = await connect()
    client.socket.pause()
    client.send(request('GET /'))
    await isAsked
    server.stopAccepting()
    await server.drain(60_000)
  })

  it('that is a stream is cancelled in the same way, whether or not it has ended', async () => {
    const reasons: CloseReason[] = []
    const { connect, server } = await serve((one) => {
      const stream = new EventStream((reason) => reasons.push(reason))
      stream.send('x'.repeat(16 * 1024 * 1024))
      if (one.url.endsWith('ends')) stream.end()
      return Promise.resolve(streamResponse(stream))
    }, undefined, undefined, 50)
    for (const path of ['/ends', '/goes-on']) {
      const client = await connect()
      client.send(request(`GET ${path}`))
      await once(client.socket, 'data')
      client.socket.pause()
    }
    server.stopAccepting()
    await server.drain(60_000)
    await eventually(() => { expect(reasons).toEqual([{ type: 'ended' }, { type: 'disconnected' }]) })
  })

  it('ends when its caller disconnects', async () => {
    const { connect, logs, server } = await serve(large)
    const client = await connect()
    client.send(request('GET /'))
    await once(client.socket, 'data')
    client.close()
    server.stopAccepting()
    await server.drain(60_000)
    expect(logs).toEqual([])
  })
})

describe('a response that closes the connection', () => {
  it('reaches a caller that is still sending', async () => {
    const { connect } = await serve(() => Promise.resolve(new Response(null, { status: 503, headers: { 'Content-Length': '0', Connection: 'close' } })))
    const client = await connect()
    client.send(request('POST /', ['Content-Length: 50000000'], 'x'.repeat(5_000_000)))
    expect(await client.head()).toMatch(/^HTTP\/1\.1 503 [^]*\r\nConnection: close\r\n/)
    expect(await client.ended()).toBe('')
    client.send('x'.repeat(1000))
  })

  it('is cancelled if its caller continues to send', async () => {
    const { connect, server } = await serve(() => Promise.resolve(new Response(null, { status: 503, headers: { Connection: 'close' } })), 0)
    const client = await connect()
    client.send(request('POST /', ['Content-Length: 5'], 'ab'))
    await client.head()
    server.stopAccepting()
    await server.drain(60_000)
  })
})

describe('a caller that disconnects', () => {
  const leave: Record<string, (client: RawClient) => void> = {
    'closes the connection': (client) => client.socket.destroy(),
    'resets the connection': (client) => client.socket.resetAndDestroy(),
    'stops sending': (client) => client.socket.end(),
  }

  describe.each(Object.keys(leave))('and %s', (how) => {
    it('aborts the signal of its request and is not answered', async () => {
      let entered!: (signal: AbortSignal) => void
      const signal = new Promise<AbortSignal>((resolve) => (entered = resolve))
      const { connect, logs } = await serve(async ({ signal }) => {
        entered(signal)
        if (!signal.aborted) await once(signal, 'abort')
        throw signal.reason
      })
      const client = await connect()
      client.send(request('POST /', ['Content-Length: 2'], '{}'))
      const aborted = once(await signal, 'abort')
      leave[how]?.(client)
      await aborted
      expect(await client.ended()).toBe('')
      expect(logs).toEqual([])
    })

    it('closes its stream, which is notified at once', async () => {
      const { fetch, opened, closed } = streaming()
      const { connect } = await serve(fetch)
      const client = await connect()
      client.send(request('GET /'))
      const stream = await opened
      stream.send('data: 1\n\n')
      await client.until('data: 1\n\n\r\n')
      leave[how]?.(client)
      expect(await closed).toEqual({ type: 'disconnected' })
      // A client that can still read sees the end of the stream.
      expect(await client.ended()).toBe(how === 'stops sending' ? '0\r\n\r\n' : '')
    })
  })

  it('is noticed even after garbage collection', async () => {
    let entered!: (signal: AbortSignal) => void
    const signal = new Promise<AbortSignal>((resolve) => (entered = resolve))
    const { connect } = await serve(({ signal }) => {
      entered(signal)
      return new Promise(() => undefined)
    })
    const client = await connect()
    client.send(request('GET /'))
    const aborted = once(await signal, 'abort')
    await nextTurn()
    collectGarbage()
    client.socket.destroy()
    await aborted
  })

  it('may have closed its sending side before its stream is open', async () => {
    const { fetch, closed } = streaming()
    const { connect } = await serve(fetch)
    const client = await connect()
    client.socket.end(request('GET /'))
    expect(await closed).toEqual({ type: 'disconnected' })
    expect(await client.ended()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n0\r\n\r\n$/)
  })

  it('may have closed it before its turn', async () => {
    const aborted: boolean[] = []
    const { connect } = await serve(async ({ signal }) => {
      aborted.push(signal.aborted)
      if (!signal.aborted) await once(signal, 'abort')
      return text(200, 'ok')
    })
    const client = await connect()
    client.socket.end(request('GET /') + request('GET /'))
    await client.answer()
    await client.answer()
    expect(aborted).toEqual([false, true])
  })

  it('may have closed it while its stream was being opened', async () => {
    const { fetch, closed } = streaming()
    const { connect } = await serve(async (request) => {
      await once(request.signal, 'abort')
      return fetch(request)
    })
    const client = await connect()
    client.socket.end(request('GET /'))
    expect(await closed).toEqual({ type: 'disconnected' })
    expect(await client.ended()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n0\r\n\r\n$/)
  })

  it('in the middle of its body is not answered and not logged', async () => {
    let failed!: (error: unknown) => void
    const failure = new Promise((resolve) => (failed = resolve))
    const { connect, logs } = await serve(async (request) => {
      await request.text().catch((error: unknown) => {
        failed(error)
        throw error
      })
      return text(200, 'never')
    })
    const client = await connect()
    client.send(request('POST /', ['Content-Length: 10'], 'abc'))
    await nextTurn()
    client.socket.resetAndDestroy()
    expect(await failure).toBeInstanceOf(Error)
    await nextTurn()
    expect(logs).toEqual([])
  })
})

describe('an event stream', () => {
  it('sends its complete head at once, and then each event as it arrives (CT 5, D39)', async () => {
    const { fetch, opened } = streaming()
    const { connect } = await serve(fetch)
    const client = await connect()
    client.send(request('GET /'))
    // Nothing has been sent on the stream yet.
    const head = await client.head()
    expect(head.split('\r\n').filter((line) => !line.startsWith('Date: '))).toEqual([
      'HTTP/1.1 200 OK',
      'Cache-Control: no-cache',
      'Connection: keep-alive',
      'Content-Type: text/event-stream',
      'Transfer-Encoding: chunked',
      '',
      '',
    ])
    const stream = await opened
    stream.send('event: ping\ndata: \n\n')
    expect(await client.until('\r\n14\r\n'.slice(2))).toBe('14\r\n') // 20 bytes
    expect(await client.until('\r\n')).toBe('event: ping\ndata: \n\n\r\n')
    stream.send('data: ż\n\n')
    stream.end()
    expect(await client.until('0\r\n\r\n')).toBe('a\r\ndata: \xc5\xbc\n\n\r\n0\r\n\r\n')
    // The connection serves the next request.
    client.send(request('GET /'))
    expect(await client.head()).toMatch(/^HTTP\/1\.1 200 OK/)
  })

  it.each([
    ['HTTP/1.1', 'Connection: close'],
    ['HTTP/1.0', 'X: y'],
  ])('of a request of %s with %s ends with its connection (S33)', async (version, field) => {
    const { connect } = await serve(() => {
      const stream = new EventStream(() => undefined)
      stream.send('data: 1\n\n')
      stream.end()
      return Promise.resolve(streamResponse(stream))
    })
    const client = await connect()
    client.send(`GET / ${version}\r\nHost: x\r\n${field}\r\n\r\n`)
    expect(await client.head()).toMatch(/\r\nConnection: keep-alive\r\n/)
    expect(await client.ended()).toContain('data: 1\n\n')
  })

  it('sends an event of any size to a reader that keeps up (S16)', async () => {
    const { fetch, opened } = streaming({ events: 10, bytes: 10 })
    const { client, logs } = await reading(fetch)
    const stream = await opened
    for (let i = 0; i < 2; i++) {
      stream.send('x'.repeat(2_000_000) + '\n')
      await client.until('x\n')
    }
    stream.end()
    await client.until('0\r\n\r\n')
    expect(logs).toEqual([])
  })

  it('is disconnected when its reader stays too slow, without a log entry of the connection (S16)', async () => {
    const { fetch, opened, closed } = streaming({ events: 1000, bytes: 4 * 1024 * 1024 })
    const { server, client, logs } = await reading(fetch)
    client.socket.pause()
    const stream = await opened
    const event = 'x'.repeat(256 * 1024)
    let reason: CloseReason | undefined
    void closed.then((value) => (reason = value))
    // The buffers of the system fill up first; their size varies.
    for (let i = 0; i < 1000 && reason === undefined; i++) {
      stream.send(event)
      await nextTurn()
    }
    expect(reason).toMatchObject({ type: 'overflow', bytes: 17 * 256 * 1024 })
    server.stopAccepting()
    await server.drain(60_000)
    const disconnected = once(client.socket, 'close')
    client.socket.resume()
    client.socket.end()
    await disconnected
    expect(client.received).not.toContain('\r\n0\r\n\r\n')
    expect(logs).toEqual([])
  })

  it('releases a reader that has disconnected without reading', async () => {
    const { fetch, opened, closed } = streaming({ events: 1000, bytes: 1024 ** 3 })
    const { server, client, logs } = await reading(fetch, 0)
    client.socket.pause()
    const stream = await opened
    for (let i = 0; i < 64; i++) stream.send('x'.repeat(1024 * 1024))
    client.socket.end()
    expect(await closed).toEqual({ type: 'disconnected' })
    server.stopAccepting()
    await server.drain(60_000)
    expect(logs).toEqual([])
  })

  it('does not keep a stopping server alive when it has no reader', async () => {
    const { fetch, opened } = streaming({ events: 1000, bytes: 1024 ** 3 })
    const { server, client, logs } = await reading(fetch)
    client.socket.pause()
    const stream = await opened
    // More than the buffers of the system can hold.
    for (let i = 0; i < 64; i++) stream.send('x'.repeat(1024 * 1024))
    server.stopAccepting()
    stream.end()
    await server.drain(0)
    expect(logs).toEqual([{ level: 'warn', message: 'connections cut', fields: { open: 1 } }])
  })
})

describe('a server that stops', () => {
  it('closes idle connections, finishes responses, and accepts no new connection', async () => {
    let answer!: (response: Response) => void
    let entered!: () => void
    const inside = new Promise<void>((resolve) => (entered = resolve))
    const { server, connect } = await serve((request) =>
      request.url.endsWith('/wait')
        ? new Promise((resolve) => {
            answer = resolve
            entered()
          })
        : Promise.resolve(text(200, 'ok')),
    )
    const [fresh, idle, busy] = [await connect(), await connect(), await connect()]
    idle.send(request('GET /'))
    await idle.answer()
    busy.send(request('GET /wait'))
    await inside
    server.stopAccepting()
    expect([await fresh.ended(), await idle.ended()]).toEqual(['', ''])
    await expect(connect()).rejects.toThrow('ECONNREFUSED')
    answer(text(200, 'done'))
    const { head, body } = await busy.answer()
    expect(body).toBe('done')
    expect(head).toContain('\r\nConnection: close\r\n')
    expect(await busy.ended()).toBe('')
    await server.drain(60_000)
  })

  it('closes the connection of a stream that it ended', async () => {
    const { fetch, opened } = streaming()
    const { server, client } = await reading(fetch)
    server.stopAccepting()
    const stream = await opened
    stream.send('data: last\n\n')
    stream.end()
    expect(await client.ended()).toBe('c\r\ndata: last\n\n\r\n0\r\n\r\n')
    await server.drain(60_000)
  })
})
