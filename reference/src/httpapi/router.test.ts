import { beforeEach, describe, expect, it } from 'vitest'
import { TestApp } from '../testing/test-app.ts'

let test: TestApp
beforeEach(() => {
  test = new TestApp()
})

/** Status, headers and body of a response, as one value. */
async function ask(method: string, target: string, headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await test.fetch(target, { method, headers })
  return { status: answer.status, headers: Object.fromEntries(answer.headers), text: answer.text }
}

const key = { 'X-Secret-Key': 'test' }
const clientToolsCors = { 'access-control-allow-origin': '*' }
const gooseCors = {
  'access-control-allow-origin': '*',
  vary: 'origin, access-control-request-method, access-control-request-headers',
}

describe('an unknown path (CT 3.2, S2)', () => {
  it.each([
    '/client-tools',
    '/client-tools/',
    '/client-tools/nope',
    '/client-tools/pending',
    '/client-tools/pending/',
    '/client-tools//tools',
    '/client-tools/tools/',
    '/client-tools/tools/c1/',
    '/client-tools/tools/c1/x',
    '/client-tools/pending/c1/x',
    '/client-tools/register/',
    '/client-tools/tools/.',
    '/client-tools/tools/%2E',
    '/client-tools/tools/c/..',
    '/client-tools/tools%2Fc1',
    '/client-tools/Tools',
    '/client-tools/ws',
    '/event/',
    '/event/x',
    '/global/event/x',
  ])('GET %s is answered 404, by the rules of client tools', async (target) => {
    expect(await ask('GET', target)).toEqual({
      status: 404,
      headers: { ...clientToolsCors, 'content-length': '0' },
      text: '',
    })
  })

  it.each(['/', '/*', '/CLIENT-TOOLS/tools', '//client-tools/tools', '/events', '/global', '/status/', '/Status', '/__proto__', '/constructor'])(
    'GET %s is answered 404, by the rules of the goose server (S20)',
    async (target) => {
      expect(await ask('GET', target, key)).toEqual({
        status: 404,
        headers: { ...gooseCors, 'content-length': '0' },
        text: '',
      })
    },
  )

  it.each([
    '/client-tools/x/../tools',
    '/client-tools/%2e/tools',
    '/client-tools\\tools',
    '/client-tools/%74ools',
    '/client%2Dtools/tools?x=1',
  ])('does not include %s, another spelling of a known one', async (target) => {
    expect(await ask('GET', target)).toMatchObject({ status: 200, text: '{}' })
  })

  it.each(['POST', 'PUT', 'DELETE', 'HEAD'])('is noticed before a wrong method: %s (S1)', async (method) => {
    expect(await ask(method, '/client-tools/nope?directory=/a&directory=/b')).toMatchObject({ status: 404 })
  })
})

describe('the family of a path (S20)', () => {
  it.each(['/client%2Dtools/tools', '/%63lient-tools', '/%65vent/x', '/global/%65vent', '/event/%2e%2e/event', '/client-tools\\tools'])(
    'is told by its decoded segments: %s is of client tools',
    async (target) => {
      const { headers } = await test.fetch(target, { method: 'PUT' })
      expect(headers.has('vary')).toBe(false)
      expect(await ask('OPTIONS', target)).toMatchObject({ status: 204 })
    },
  )

  it.each(['/client-tools%2Ftools', '/global%2Fevent', '/event%2F', '/client-tools%252F', '/%2Fevent'])(
    'is that of the goose server for %s',
    async (target) => {
      expect(await ask('GET', target, key)).toMatchObject({ status: 404, headers: gooseCors })
      expect(await ask('OPTIONS', target)).toMatchObject({ status: 200, headers: gooseCors })
    },
  )
})

describe('a wrong method (CT 3.2, S2, S10)', () => {
  it.each([
    ['GET', '/client-tools/register', 'POST'],
    ['HEAD', '/client-tools/register', 'POST'],
    ['DELETE', '/client-tools/result', 'POST'],
    ['GET', '/client-tools/execute', 'POST'],
    ['POST', '/client-tools/unregister', 'DELETE'],
    ['POST', '/client-tools/tools', 'GET, HEAD'],
    ['DELETE', '/client-tools/tools/c', 'GET, HEAD'],
    ['PUT', '/client-tools/pending/c', 'GET, HEAD'],
    ['PATCH', '/event', 'GET, HEAD'],
    ['PROPFIND', '/global/event', 'GET, HEAD'],
  ])('%s %s gets 405 with Allow %s', async (method, target, allow) => {
    expect(await ask(method, `${target}?directory=/a&directory=/b`)).toEqual({
      status: 405,
      headers: { ...clientToolsCors, allow, 'content-length': '0' },
      text: '',
    })
  })

  it('has an Allow header in the spelling of the goose server outside client tools (GA 2.4)', async () => {
    expect(await ask('POST', '/status')).toEqual({
      status: 405,
      headers: { ...gooseCors, allow: 'GET,HEAD', 'content-length': '0' },
      text: '',
    })
  })
})

describe('OPTIONS (CT 3.1, GA 2.3, S1)', () => {
  const methods = { 'access-control-allow-methods': 'GET,HEAD,PUT,POST,DELETE,PATCH' }

  it.each(['/client-tools', '/client-tools/register?directory=/a&directory=/b', '/client-tools/nope', '/event', '/global/event/x'])(
    'on %s is answered by the rules of client tools',
    async (target) => {
      expect(await ask('OPTIONS', target, { Origin: 'http://x' })).toEqual({
        status: 204,
        headers: { ...clientToolsCors, ...methods },
        text: '',
      })
    },
  )

  it('echoes the requested headers', async () => {
    const headers = { 'Access-Control-Request-Headers': 'X-One,  content-type' }
    expect(await ask('OPTIONS', '/client-tools/register', headers)).toEqual({
      status: 204,
      headers: {
        ...clientToolsCors,
        ...methods,
        'access-control-allow-headers': 'X-One,  content-type',
        vary: 'Access-Control-Request-Headers',
      },
      text: '',
    })
  })

  it.each(['/status', '/nope', '/', '/*'])('on %s follows the rules of the goose server', async (target) => {
    expect(await ask('OPTIONS', target, { 'Access-Control-Request-Headers': 'x' })).toEqual({
      status: 200,
      headers: {
        ...gooseCors,
        'access-control-allow-methods': '*',
        'access-control-allow-headers': '*',
        'content-length': '0',
      },
      text: '',
    })
  })
})

describe('HEAD (S10)', () => {
  it.each(['/client-tools/tools', '/client-tools/tools/c', '/client-tools/tools?directory=/a&directory=/b', '/status'])(
    '%s has the status and headers of GET, and no body',
    async (target) => {
      const get = await ask('GET', target)
      expect(await ask('HEAD', target)).toEqual({ ...(get as object), text: '' })
      expect(get).toMatchObject({ headers: { 'content-length': expect.stringMatching(/^[1-9]/) as string } })
    },
  )
})

describe('GET /status (GA 5.1)', () => {
  it('is ok, and plain text', async () => {
    expect(await ask('GET', '/status')).toEqual({
      status: 200,
      headers: { ...gooseCors, 'content-type': 'text/plain; charset=utf-8', 'content-length': '2' },
      text: 'ok',
    })
  })
})
