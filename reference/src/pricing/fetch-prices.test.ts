import { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { Upstream, plain, type Script } from '../testing/upstream.ts'
import { fetchPrices, listAddress, maxListBytes, type Fetched } from './fetch-prices.ts'

/** The outcome of a fetch from a server that answers so. The address has a word that no reason may have. */
async function fetched(script: Script): Promise<Fetched> {
  const upstream = (await Upstream.start()).answers(script)
  return fetchPrices(new URL(`${upstream.url}/canary?canary`), new AbortController().signal)
}

function sends(body: string | Buffer, headers: Record<string, string> = {}): Script {
  return (response) => { response.writeHead(200, headers).end(body) }
}

function zipped(text: string | Buffer): Script {
  return sends(gzipSync(text), { 'Content-Encoding': 'GZip' })
}

const item = { id: 'a/b', pricing: { prompt: '1', completion: '2' } }
const list = JSON.stringify({ data: [item] })
const read = { list: new Map([['a', new Map([['b', { input_cost: 1, output_cost: 2, context_length: null }]])]]) }

describe('the address of the list (G67)', () => {
  it.each([
    [undefined, 'https://openrouter.ai/api/v1/models'],
    ['', 'https://openrouter.ai/api/v1/models'],
    ['HTTP://Mirror:8080?a=%41&b', 'http://mirror:8080/?a=%41&b'],
    ['https://[::1]/a@b', 'https://[::1]/a@b'],
    ['http://10.0.0.1:65535/~a/%C3%A9;!$&()*+,=:?a=b/c?d', 'http://10.0.0.1:65535/~a/%C3%A9;!$&()*+,=:?a=b/c?d'],
  ])('in %j is %s', (GOOSE_PRICING_URL, address) => {
    expect(listAddress({ GOOSE_PRICING_URL })?.href).toBe(address)
  })

  it.each([
    'none', '/models', 'ftp://host/', 'file:///etc/hosts', 'http://', 'http:///host/', 'http:host/', 'https:\\\\host/', 'http://?x', 'http://:80/',
    'http://user@host/', 'http://user:password@host/', 'http://:password@host/', 'http://@/', 'http://host:port/', 'http://host/\n', ' http://host/',
    'http://@host/', 'http://host:65536/', 'http://host:/', 'http://hóst/', 'http://h%6fst/', 'http://host/a b', 'http://host/ ', 'http://host/é', 'http://host/%4',
    'http://host/?a[]', 'http://host/?a|b', 'http://host/a\\b', 'http://host/"', 'http://host/#part', 'http://[::g]/',
  ])('in %j is not one', (GOOSE_PRICING_URL) => {
    expect(listAddress({ GOOSE_PRICING_URL })).toBeUndefined()
  })
})

describe('the list of prices (G67)', () => {
  it('may be compressed', async () => {
    expect(await fetched(sends(list))).toEqual(read)
    expect(await fetched(zipped(list))).toEqual(read)
  })

  it('has at most 16 MiB, which are counted as they are decoded', async () => {
    const largest = Buffer.alloc(maxListBytes, ' ')
    largest.write(list)
    const tooLarge = Buffer.concat([largest, Buffer.from(' ')])
    expect(await fetched(sends(largest))).toEqual(read)
    expect(await fetched(zipped(largest))).toEqual(read)
    const failure = { why: `more than ${maxListBytes} bytes` }
    expect(await fetched(sends(tooLarge))).toEqual(failure)
    expect(await fetched(zipped(tooLarge))).toEqual(failure)
  })

  it('is asked for without anything about the user', async () => {
    const upstream = (await Upstream.start()).answers(sends(list))
    await fetchPrices(new URL(`${upstream.url}/list?of=%41`), new AbortController().signal)
    expect(upstream.asked).toMatchObject([{ method: 'GET', path: '/list?of=%41', text: '' }])
    expect(Object.keys(upstream.asked[0]?.headers ?? {}).sort()).toEqual(['accept-encoding', 'connection', 'host'])
  })
})

it('a price that begins with many digits takes no time (G68)', async () => {
  const prompt = `${'1'.repeat(150_000)}x`
  expect(await fetched(sends(JSON.stringify({ data: [{ id: 'a/b', pricing: { prompt, completion: '2' } }] })))).toEqual({ list: new Map() })
}, 10_000)

describe('a failed fetch', () => {
  it.each<[why: string, script: Script]>([
    ['status 401', plain(401, 'canary')],
    ['status 302', plain(302, list, { Location: '/canary' })],
    ['the response is not JSON', plain(200, '{"canary')],
    ['the response is not JSON', plain(200, `\ufeff${list}`)],
    ['no list in the response', plain(200, '{"data":{"canary":1}}')],
    ['no list in the response', plain(200, '[{"data":[]}]')],
    ['the connection ended within the response', (response) => { response.writeHead(200, { 'Content-Length': '99' }).write(list, () => response.destroy()) }],
    ['no connection (ECONNRESET)', (response) => { response.destroy() }],
    ['no connection (for an unknown reason)', (response) => { response.socket?.end('HTTP/1.1 101 Canary\r\nConnection: upgrade\r\nUpgrade: canary\r\n\r\n') }],
    ['status 503', (response) => { response.writeHead(503).write('canary') }],
    ['the response cannot be read (Z_DATA_ERROR)', sends('canary', { 'Content-Encoding': 'gzip' })],
    ['the response cannot be read (Z_BUF_ERROR)', sends(gzipSync(list).subarray(0, -9), { 'Content-Encoding': 'gzip' })],
  ])('has the reason: %s (G67)', async (why, script) => {
    expect(await fetched(script)).toEqual({ why })
  })

  it('has neither the address nor the message of the system as its reason (G67)', async () => {
    expect(await fetchPrices(new URL('http://127.0.0.1:1/canary'), new AbortController().signal)).toEqual({ why: 'no connection (ECONNREFUSED)' })
  })

  it.each<[what: string, begin: Script]>([
    ['does not begin', () => undefined],
    ['does not end', (response) => { response.writeHead(200).write('{"data":[') }],
  ])('ends 30 s after its start if the response %s (G67)', async (_, begin) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const upstream = await Upstream.start()
      const asked = new Promise<void>((resolve) => upstream.answers((response, request) => {
        void begin(response, request)
        resolve()
      }))
      let outcome: Fetched | undefined
      const ends = fetchPrices(new URL(upstream.url), new AbortController().signal).then((fetched) => (outcome = fetched))
      await asked
      await vi.advanceTimersByTimeAsync(29_999)
      expect(outcome).toBeUndefined()
      vi.advanceTimersByTime(1)
      expect(await ends).toEqual({ why: 'no complete response within 30 s' })
    } finally {
      vi.useRealTimers()
    }
  })
})
