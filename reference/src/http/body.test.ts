import { describe, expect, it } from 'vitest'
import { isJsonType, readBody } from './body.ts'
import { BodyTooLargeError } from './errors.ts'

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
    'application/json\u00a0', // a byte that is a blank in no header field
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
])('isJsonType does not lose its way among many %s', (_, type) => {
  expect([isJsonType(type), isJsonType(type + ';')]).toEqual([true, false])
})

/** A body that comes in parts, and says how many of them were taken. */
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
  it('puts the parts together, up to the limit', async () => {
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

  it('reads nothing if a length above the limit is announced', async () => {
    const { request, taken } = parts('ab')
    await expect(readBody(request({ 'Content-Length': '5' }), 4)).rejects.toThrow(BodyTooLargeError)
    expect(taken()).toBe(0)
  })
})
