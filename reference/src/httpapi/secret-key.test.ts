import { beforeEach, describe, expect, it } from 'vitest'
import { TestApp } from '../testing/test-app.ts'
import { equals } from './secret-key.ts'

let test: TestApp
beforeEach(() => {
  test = new TestApp({ secretKey: 's3cret key' })
})

async function ask(method: string, target: string, key?: string): Promise<unknown> {
  const headers: Record<string, string> = key === undefined ? {} : { 'x-secret-KEY': key }
  const answer = await test.fetch(target, { method, headers })
  return { status: answer.status, headers: Object.fromEntries(answer.headers), text: answer.text }
}

const cors = {
  'access-control-allow-origin': '*',
  vary: 'origin, access-control-request-method, access-control-request-headers',
}
const unauthorised = { status: 401, headers: { ...cors, 'content-length': '0' }, text: '' }

describe('the secret key (GA 2.2)', () => {
  it.each([
    ['GET', '/nope'],
    ['GET', '/'],
    ['GET', '/status/'],
    ['GET', '/Status'],
    ['GET', '/status/x'],
    ['PATCH', '/nope'],
    ['GET', '/mcp-ui-proxy/'],
    ['HEAD', '/nope'],
  ])('is checked on %s %s before the path', async (method, target) => {
    expect(await ask(method, target)).toEqual(unauthorised)
    expect(await ask(method, target, 's3cret key')).toMatchObject({ status: 404 })
  })

  it.each(['', 'test', 's3cret', 's3cret key!', 'S3CRET KEY', 's3cret key, s3cret key', 's3cret k\u00e9y'])('is not %j', async (key) => {
    expect(await ask('GET', '/nope', key)).toEqual(unauthorised)
  })

  it('is not needed on an open path, whatever the method is', async () => {
    expect(await ask('GET', '/status')).toMatchObject({ status: 200 })
    expect(await ask('DELETE', '/status')).toMatchObject({ status: 405 })
    expect(await ask('GET', '/mcp-ui-proxy')).not.toMatchObject({ status: 401 })
  })

  it('is not needed for client tools', async () => {
    expect(await ask('GET', '/client-tools/tools')).toMatchObject({ status: 200 })
    expect(await ask('GET', '/client-tools/nope')).toMatchObject({ status: 404 })
    expect(await ask('GET', '/client-toolsx')).toMatchObject({ status: 401 })
  })

  it('is not needed for OPTIONS', async () => {
    expect(await ask('OPTIONS', '/nope')).toMatchObject({ status: 200, text: '' })
  })

  it('is never a value beyond ASCII', () => {
    expect(equals('kéy')('kéy')).toBe(false)
    expect(equals('')('')).toBe(true)
    expect(equals('')(null)).toBe(false)
  })
})
