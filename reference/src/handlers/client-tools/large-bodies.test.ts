import { describe, expect, it } from 'vitest'
import { TestApp } from '../../testing/test-app.ts'

const mebi = 1024 * 1024
const app = (): TestApp => new TestApp({ maxBody: 50 * mebi })

/** The longest time in which the event loop ran nothing else. */
async function longestPause(run: () => Promise<unknown>): Promise<number> {
  let [last, longest] = [performance.now(), 0]
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 1)
  await run()
  clearInterval(timer)
  return Math.max(longest, performance.now() - last)
}

const tooMany = '{"error":{"code":"RATE_LIMITED","message":"Too many tools"}}'

describe('a large body', () => {
  it('with millions of tools is rejected early, and does not delay other requests (S39)', async () => {
    const server = app()
    const body = `{"clientID":"a","tools":[${'0,'.repeat(5 * mebi)}0]}`
    let answer: { status: number; text: string } | undefined
    const pause = await longestPause(async () => (answer = await server.send('POST', '/client-tools/register', body)))
    expect(answer).toMatchObject({ status: 429, text: tooMany })
    expect(pause).toBeLessThan(10_000) // it took 75 s and then crashed when every value was checked
  })

  it('with one tool too many is rejected before the tools are checked', async () => {
    const body = (count: number): string => JSON.stringify({ clientID: 5, tools: Array.from({ length: count }, () => 0) })
    expect(await app().send('POST', '/client-tools/register', body(1001))).toMatchObject({ status: 429, text: tooMany })
    expect(await app().send('POST', '/client-tools/register', body(1000))).toMatchObject({ status: 400 })
  })

  it.each([
    ['POST', '/client-tools/result', 500, (junk: string) => `{"requestID":"r","result":{"status":"success","metadata":${junk}}}`],
    ['DELETE', '/client-tools/unregister', 500, (junk: string) => `{"clientID":"c","toolIDs":${junk}}`],
    ['POST', '/client-tools/execute', 400, (junk: string) => `{"toolID":"t","input":${junk}}`],
    ['POST', '/client-tools/register', 500, (junk: string) => `{"more":${junk},"clientID":"c","tools":[]}`],
  ])('with many millions of values is rejected: %s %s', async (method, path, status, body) => {
    const junk = `[${'{},'.repeat(5 * mebi)}0]`
    expect(await app().send(method, path, body(junk))).toMatchObject({ status })
  })

  const values = (count: number): string => `[${'{},'.repeat(count - 2)}0]` // the array itself counts as a value

  it.each([
    [1_000_000, 200],
    [1_000_001, 500],
  ])('may have a million values, and no more (S51): %i', async (count, status) => {
    const body = `{"clientID":"c","tools":[],"a":1,"a":${values(count - 4)}}`
    expect(await app().send('POST', '/client-tools/register', body)).toMatchObject({ status })
  })

  it.each([
    [`"tools":${'[0,'.concat('0,'.repeat(1000), '0]')},"a":JUNK`, 429],
    [`"tools":JUNK`, 429],
    [`"tools":JUNK,"a":x`, 500],
    [`"tools":JUNK,"tools":[]`, 500],
    [`"tools":[],"a":{"tools":JUNK}`, 500],
    [`"a":JUNK,"tools":[${'0,'.repeat(1000)}0]`, 429],
    [`"a":JUNK,"tools":[${'0,'.repeat(999)}0]`, 500],
  ])('with too many tools and values is rejected for its tools, if it is JSON: %#', async (members, status) => {
    expect(await app().send('POST', '/client-tools/register', `{${members.replace('JUNK', values(1_000_001))}}`)).toMatchObject({ status })
  })

  it('is read like a small one', async () => {
    const server = app()
    const long = 'x'.repeat(200_000)
    const parameters = '{"b":1.0,"7":"\\ud800","__proto__":{},"b":-0,"1":1e400,"é":"\\u00e9"}'
    const body = `\ufeff{"tools":[{"id":"t","description":"","parameters":${parameters}}],"clientID":"c","more":"${long}"}`
    expect(await server.send('POST', '/client-tools/register', body)).toMatchObject({ status: 200 })
    expect(await server.send('POST', '/client-tools/register', body.replace(long, '').replace('"c"', '"d"'))).toMatchObject({ status: 200 })
    const [c, d] = await Promise.all(['c', 'd'].map(async (id) => (await server.fetch(`/client-tools/tools/${id}`)).text))
    expect(c?.replaceAll('_c_', '_d_')).toBe(d)
    expect(await server.send('POST', '/client-tools/register', `${body} x`)).toMatchObject({ status: 500 })
  })
})

describe('the response to an invalid body (S43)', () => {
  const issue = (path: (string | number)[]): unknown => ({ expected: 'string', code: 'invalid_type', path, message: 'Invalid input: expected string, received number' })

  it('has a hundred issues, and the number of the others', async () => {
    const toolIDs = Array.from({ length: 1000 }, (_, i) => i)
    const { text } = await app().send('DELETE', '/client-tools/unregister', JSON.stringify({ clientID: 0, toolIDs }))
    const { error } = JSON.parse(text) as { error: unknown[] }
    expect(error).toHaveLength(101)
    expect(error.slice(98)).toEqual([issue(['toolIDs', 97]), issue(['toolIDs', 98]), { code: 'too_many_issues', path: [], message: '901 more issues' }])
    const some = await app().send('DELETE', '/client-tools/unregister', JSON.stringify({ clientID: 0, toolIDs: toolIDs.slice(0, 99) }))
    expect((JSON.parse(some.text) as { error: unknown[] }).error.at(-1)).toEqual(issue(['toolIDs', 98]))
  })

  it.each([
    [65_536, true],
    [65_537, false],
  ])('has a copy of a body of %i bytes: %s', async (bytes, isThere) => {
    const body = `{"toolIDs":"${'é'.repeat((bytes - 14) >> 1)}${'x'.repeat(bytes % 2)}"}`
    expect(Buffer.byteLength(body)).toBe(bytes)
    const { text } = await app().send('DELETE', '/client-tools/unregister', body)
    expect('data' in (JSON.parse(text) as object)).toBe(isThere)
  })
})
