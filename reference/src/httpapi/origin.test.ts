import { beforeEach, describe, expect, it } from 'vitest'
import { TestApp } from '../testing/test-app.ts'

async function ask(test: TestApp, headers: Record<string, string>, method = 'GET', path = '/client-tools/tools'): Promise<string> {
  const answer = await test.fetch(path, { method, headers })
  return `${answer.status} ${answer.headers.get('Access-Control-Allow-Origin') ?? 'no CORS'} ${answer.text}`
}

const served = '200 * {}'
const badOrigin = '403 no CORS {"error":{"code":"PERMISSION_DENIED","message":"Origin not allowed"}}'
const badHost = '403 no CORS {"error":{"code":"PERMISSION_DENIED","message":"Host not allowed"}}'

describe('an origin (CT 15.1, S70, S71)', () => {
  let test: TestApp
  beforeEach(() => {
    test = new TestApp({ allowedOrigins: ['https://app.example'] })
  })

  it.each(['http://localhost', 'https://localhost:1', 'http://127.0.0.1:5173', 'https://127.255.255.254', 'http://[::1]:3000', 'https://app.example'])(
    '%s is allowed',
    async (Origin) => {
      expect(await ask(test, { Origin, Host: 'localhost' })).toBe(served)
    },
  )

  it.each(['', 'null', 'https://app.example:443', 'http://app.example', 'http://localhost.example', 'http://127.0.0.1.example', 'http://127.0.0.256', 'http://localhost/', 'HTTP://localhost', 'ftp://localhost', 'http://localhost, http://localhost', 'http://localhost:0', 'http://localhost:65536'])(
    '%j is refused',
    async (Origin) => {
      expect(await ask(test, { Origin, Host: 'localhost' })).toBe(badOrigin)
    },
  )

  it('is checked before everything else, in this family only', async () => {
    const headers = { Origin: 'http://evil.example', Host: 'evil.example' }
    for (const method of ['OPTIONS', 'PUT', 'GET']) expect(await ask(test, headers, method, '/client-tools/nope')).toBe(badOrigin)
    expect(await ask(test, headers, 'POST', '/session/s/permissions/p')).toBe(badOrigin)
    expect(await ask(test, headers, 'HEAD')).toBe('403 no CORS ')
    expect((await test.fetch('/status', { headers })).status).toBe(200)
    expect((await test.fetch('/session/s/permissions', { headers })).status).toBe(401)
  })

  it('may be any with *', async () => {
    expect(await ask(new TestApp({ allowedOrigins: ['*'] }), { Origin: 'null', Host: 'evil.example' })).toBe(served)
  })
})

describe('a request without an origin (S88)', () => {
  let test: TestApp
  beforeEach(() => {
    test = new TestApp({ allowedOrigins: [] })
  })

  it.each(['same-origin', 'none'])('for a page of this site, or for none, is served: %s', async (site) => {
    expect(await ask(test, { 'Sec-Fetch-Site': site, Host: 'localhost' })).toBe(served)
  })

  it.each(['cross-site', 'same-site', 'None', 'same-origin, none', ''])('for a page of another site is refused: %j', async (site) => {
    const headers = { 'Sec-Fetch-Site': site, Host: 'evil.example' }
    expect(await ask(test, headers)).toBe(badOrigin)
    expect(await ask(test, headers, 'OPTIONS', '/client-tools/nope')).toBe(badOrigin)
    expect((await test.fetch('/status', { headers })).status).toBe(200)
    expect(await ask(new TestApp({ allowedOrigins: ['*'] }), headers)).toBe(served)
  })

  it('is one without Origin: with one, only that counts', async () => {
    expect(await ask(test, { Origin: 'http://localhost', 'Sec-Fetch-Site': 'cross-site', Host: 'localhost' })).toBe(served)
    expect(await ask(test, { Origin: 'null', 'Sec-Fetch-Site': 'same-origin', Host: 'localhost' })).toBe(badOrigin)
  })
})

describe('a host (CT 15.2)', () => {
  let test: TestApp
  beforeEach(() => {
    test = new TestApp({ allowedOrigins: [], hostName: 'Dev.example.com' })
  })

  it.each(['localhost', 'LocalHost.:80', 'a.localhost:1', '127.0.0.1:3000', '10.0.0.1', '[::1]:3000', '[2001:db8::1]', 'dev.example.com:3000', 'DEV.example.com.'])(
    '%s is served',
    async (Host) => {
      expect(await ask(test, { Host })).toBe(served)
    },
  )

  it.each(['example.com', 'localhost.example.com', 'xlocalhost', 'evil.dev.example.com', '127.0.0.1.example.com', '1.2.3', '[::x]', '[fe80::1%25x]', ''])('%j is refused', async (Host) => {
    expect(await ask(test, { Host })).toBe(badHost)
  })
})
