import { describe, expect, it } from 'vitest'
import { TestApp } from '../../testing/test-app.ts'

const operations = [
  ['POST', '/client-tools/register', '{"clientID":"c","tools":[]}', '{"registered":[]}'],
  ['DELETE', '/client-tools/unregister', '{"clientID":"c"}', '{"success":true,"unregistered":[]}'],
  ['POST', '/client-tools/result', '{"requestID":"r","result":{"status":"error","error":""}}', '{"error":"Unknown request ID"}'],
] as const

const malformed = '{"name":"UnknownError","data":{"message":"Error: Malformed JSON in request body"}}'
const tooLarge = '{"error":"Request body too large"}'
const twoDirectories =
  '{"data":{"directory":["/a","/b"]},"error":[{"expected":"string","code":"invalid_type","path":["directory"],"message":"Invalid input: expected string, received array"}],"success":false}'

describe.each(operations)('the gate of %s %s (CT 3.4)', (method, target, good, answer) => {
  it('answers with JSON that has a length, and neither a charset nor a final line feed', async () => {
    const { headers, text } = await new TestApp().send(method, target, good)
    expect([...headers]).toEqual([
      ['access-control-allow-origin', '*'],
      ['content-length', String(answer.length)],
      ['content-type', 'application/json'],
    ])
    expect(text).toBe(answer)
  })

  it.each(['', '{', `${good} x`, `${good}${good}`, '\u0000'])('answers 500 for the malformed body %j', async (body) => {
    const { status, text } = await new TestApp().send(method, target, body)
    expect([status, text]).toEqual([500, malformed])
  })

  it('answers 500 if there is no body', async () => {
    const headers = { 'Content-Type': 'application/json' }
    const { status, text } = await new TestApp().fetch(target, { method, headers })
    expect([status, text]).toEqual([500, malformed])
  })

  it.each(['text/plain', 'application/jsonx', ''])('ignores a body of type %j, even a malformed one', async (type) => {
    const test = new TestApp()
    for (const body of [good, '{']) {
      const { status, text } = await test.send(method, target, body, { 'Content-Type': type })
      expect(status).toBe(400)
      expect(text).toMatch(/^\{"data":\{\},"error":\[\{"expected":"string","code":"invalid_type"/)
    }
  })

  it('answers with the whole body and all issues, in the key order of CT 2.5', async () => {
    const { status, text } = await new TestApp().send(method, target, '{"x":[1.0,"<ż>"]}')
    expect(status).toBe(400)
    expect(text).toMatch(/^\{"data":\{"x":\[1,"<ż>"\]\},"error":\[\{.*\}\],"success":false\}$/)
  })

  it('rejects two directories before it checks the body', async () => {
    const test = new TestApp({ maxBody: 5 })
    const { status, text } = await test.send(method, `${target}?directory=/a&directory=/b`, '{ too large')
    expect([status, text]).toEqual([400, twoDirectories])
  })

  it('rejects a body that is too large before it checks its type or syntax (S6)', async () => {
    const test = new TestApp({ maxBody: 200 })
    const atLimit = good.padEnd(200)
    expect((await test.send(method, target, atLimit)).text).toBe(answer)
    const { status, text } = await test.send(method, target, 'x'.repeat(201), {})
    expect([status, text]).toEqual([413, tooLarge])
    const announced = await test.send(method, target, good, { 'Content-Length': '201' })
    expect([announced.status, announced.text]).toEqual([413, tooLarge])
  })
})

describe('POST /client-tools/register (CT 4.1)', () => {
  it('reads a byte order mark, invalid UTF-8 and repeated keys (CT 3.4 step 4)', async () => {
    const test = new TestApp()
    const events = await test.events()
    const json = Buffer.from('{"clientID":"x","clientID":"a\xff","tools":[]}', 'latin1')
    const body = Buffer.concat([Buffer.from('\ufeff'), json])
    const headers = { 'Content-Type': 'application/json' }
    const { status } = await test.fetch('/client-tools/register', { method: 'POST', body, headers })
    expect(status).toBe(200)
    expect(await events.data()).toMatchObject({ properties: { clientID: 'a\ufffd' } })
  })

  it('returns the full IDs in the order of the request, and publishes them', async () => {
    const test = new TestApp()
    const events = await test.events()
    expect((await test.register('e1', ['b', 'a', 'b'])).text).toBe(
      '{"registered":["client_e1_b","client_e1_a","client_e1_b"]}',
    )
    expect((await test.register('e1', [])).text).toBe('{"registered":[]}')
    expect(await events.data()).toEqual({
      type: 'client-tool.registered',
      properties: { clientID: 'e1', toolIDs: ['client_e1_b', 'client_e1_a', 'client_e1_b'] },
    })
    expect(await events.data()).toMatchObject({ type: 'client-tool.registered', properties: { toolIDs: [] } })
  })

  it('changes nothing when it is rejected', async () => {
    const test = new TestApp()
    const events = await test.events()
    const body = '{"clientID":"c","tools":[{"id":"a","description":"","parameters":{}},{"id":"b"}]}'
    expect((await test.send('POST', '/client-tools/register', body)).status).toBe(400)
    expect(await test.tools('c')).toEqual([])
    await test.register('sentinel', [])
    expect(await events.data()).toMatchObject({ properties: { clientID: 'sentinel' } })
  })

  it('accepts parameters nested as deeply as JSON may be, and lists them (S27)', async () => {
    const test = new TestApp()
    const withParameters = (json: string): string =>
      `{"clientID":"c","tools":[{"id":"a","description":"","parameters":${json}}]}`
    const deep = '{"a":'.repeat(8996) + '[]' + '}'.repeat(8996) // levels in addition to those of the body, its list and its tool
    expect((await test.send('POST', '/client-tools/register', withParameters(deep))).status).toBe(200)
    const deeper = await test.send('POST', '/client-tools/register', withParameters(`{"a":${deep}}`))
    expect([deeper.status, deeper.text]).toEqual([
      500,
      '{"name":"UnknownError","data":{"message":"Error: Malformed JSON in request body"}}',
    ])
    expect((await test.fetch('/client-tools/tools/c')).text).toBe(
      `[{"id":"client_c_a","description":"","parameters":${deep}}]`,
    )
    expect((await test.fetch('/client-tools/tools')).status).toBe(200)
  })
})

describe('DELETE /client-tools/unregister (CT 4.2)', () => {
  it('returns and publishes what it removed', async () => {
    const test = new TestApp()
    await test.register('c', ['a', 'b', 'd'])
    const events = await test.events()
    const remove = async (body: object): Promise<string> =>
      (await test.send('DELETE', '/client-tools/unregister?clientID=ignored', JSON.stringify(body))).text
    expect(await remove({ clientID: 'c', toolIDs: ['b', 'client_c_a', 'x'] })).toBe(
      '{"success":true,"unregistered":["client_c_b","client_c_a"]}',
    )
    expect(await remove({ clientID: 'c', toolIDs: [] })).toBe('{"success":true,"unregistered":[]}')
    expect(await remove({ clientID: 'c', toolIDs: ['a'] })).toBe('{"success":true,"unregistered":[]}')
    expect(await remove({ clientID: 'c' })).toBe('{"success":true,"unregistered":["client_c_d"]}')
    expect(await remove({ clientID: 'c' })).toBe('{"success":true,"unregistered":[]}')
    const heard = [await events.data(), await events.data()]
    expect(heard).toEqual([
      { type: 'client-tool.unregistered', properties: { clientID: 'c', toolIDs: ['client_c_b', 'client_c_a'] } },
      { type: 'client-tool.unregistered', properties: { clientID: 'c', toolIDs: ['client_c_d'] } },
    ])
    await test.register('sentinel', [])
    expect(await events.types(1)).toEqual(['client-tool.registered'])
  })
})

describe('GET /client-tools/tools (CT 4.5, 4.6)', () => {
  it('lists one client as an array, and all clients as an object', async () => {
    const test = new TestApp()
    expect((await test.fetch('/client-tools/tools')).text).toBe('{}')
    expect((await test.fetch('/client-tools/tools/c1')).text).toBe('[]')
    await test.send(
      'POST',
      '/client-tools/register',
      '{"clientID":"c1","tools":[{"parameters":{"b":1,"a":2},"description":"<b>& ż","id":"alpha"}]}',
    )
    const definition = '{"id":"client_c1_alpha","description":"<b>& ż","parameters":{"b":1,"a":2}}'
    expect((await test.fetch('/client-tools/tools/c1')).text).toBe(`[${definition}]`)
    expect((await test.fetch('/client-tools/tools')).text).toBe(`{"client_c1_alpha":${definition}}`)
  })

  it.each<[clientID: string, segment: string]>([
    ['a/b', 'a%2Fb'],
    ['a/b%FF', 'a%2Fb%FF'],
    ['ż', '%c5%bc'],
    ['ż', 'ż'],
    ['a~b', 'a%7Eb'],
    ['a+b c', 'a+b%20c'],
    ['%41', '%2541'],
    ['a%ZZ', 'a%ZZ'],
    ['__proto__', '__proto__'],
    ['constructor', 'constructor'],
    ['*', '*'],
    [':clientID', ':clientID'],
    ['x\n', 'x%0A'],
  ])('finds client %j at %s', async (clientID, segment) => {
    const test = new TestApp()
    await test.register(clientID, ['t'])
    const { status, text } = await test.fetch(`/client-tools/tools/${segment}`)
    expect([status, JSON.parse(text)]).toMatchObject([200, [{ id: `client_${clientID}_t` }]])
  })

  it.each(['__proto__', 'constructor', 'toString'])('does not know the unregistered client %s', async (clientID) => {
    expect((await new TestApp().fetch(`/client-tools/tools/${clientID}`)).text).toBe('[]')
  })

  it.each(['/client-tools/tools', '/client-tools/tools/c', '/client-tools/pending/c', '/event'])(
    'GET %s refuses two directories',
    async (target) => {
      const { status, text } = await new TestApp().fetch(`${target}?directory=/a&directory=/b`)
      expect([status, text]).toEqual([400, twoDirectories])
    },
  )
})
