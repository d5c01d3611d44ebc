import { describe, expect, it } from 'vitest'
import { array, object, string } from '../wire/json/shape.ts'
import { gooseError } from './goose-errors.ts'
import { isJsonMediaType, maxJsonBody, maxReplyBody, readJsonBody } from './json-body.ts'

const names = object<{ names: string[] }>({ names: array(string) })
const json = { 'Content-Type': 'application/json' }

async function read(body: string | Uint8Array<ArrayBuffer> | ReadableStream | null, headers: Record<string, string> = json, maxBytes?: number): Promise<unknown> {
  const request = new Request('http://x/', { method: 'POST', headers, body, duplex: 'half' })
  try {
    return await readJsonBody(request, names, maxBytes)
  } catch (error) {
    const answer = error instanceof Error ? gooseError(error) : undefined
    if (answer === undefined) throw error
    return [answer.status, answer.headers.get('Content-Type'), await answer.text()]
  }
}

const plain = 'text/plain; charset=utf-8'
const unsupported = [415, plain, 'Expected request with `Content-Type: application/json`']
const tooLarge = [413, plain, 'Failed to buffer the request body: length limit exceeded']

/** A valid body with this many bytes. */
function bodyOf(bytes: number): string {
  return '{"names":["' + 'x'.repeat(bytes - 14) + '"]}'
}

describe('a JSON body (GA 2.5)', () => {
  it('is read into its shape', async () => {
    expect(await read('{"names":["a"],"more":1}')).toEqual({ names: ['a'] })
  })

  it.each(['', '{', '{"names":["a"]', '{} {}', '\uFEFF{}', '{"names":["\\ud800"]}'])('that is not JSON is a 400: %j', async (body) => {
    expect(await read(body)).toEqual([400, plain, 'Failed to parse the request body as JSON: invalid JSON'])
  })

  it.each([
    [1_000_000, 422],
    [1_000_001, 400],
  ])('of %i values is a %i (S51)', async (count, status) => {
    expect(await read(`[[[${'{},'.repeat(count - 5)}0]],0]`, json, maxReplyBody)).toContain(status)
  })

  it('that is missing is a 400', async () => {
    expect(await read(null)).toContain(400)
  })

  it.each([
    ['{}', 'missing field `names` at line 1 column 2'],
    ['[]', 'invalid type: array, expected an object at line 1 column 2'],
    ['null', 'invalid type: null, expected an object at line 1 column 4'],
    ['{"names":null}', 'names: invalid type: null, expected an array at line 1 column 13'],
    ['{"names":["a",1]}', 'names[1]: invalid type: number, expected a string at line 1 column 15'],
    ['{"names":[],"names":[]}', 'duplicate field `names` at line 1 column 22'],
  ])('of another shape is a 422: %s', async (body, reason) => {
    expect(await read(body)).toEqual([422, plain, `Failed to deserialize the JSON body into the target type: ${reason}`])
  })

  it('is read up to its limit', async () => {
    expect(await read(bodyOf(maxJsonBody))).toHaveProperty('names')
    expect(await read(bodyOf(maxJsonBody + 1))).toEqual(tooLarge)
    expect(await read(bodyOf(maxJsonBody + 1), json, maxReplyBody)).toHaveProperty('names')
    expect([maxJsonBody, maxReplyBody]).toEqual([2_097_152, 52_428_800])
  })

  it('is counted while it arrives when it has no declared length', async () => {
    const body = new Blob([bodyOf(1000)]).stream()
    expect(await read(body, json, 999)).toEqual(tooLarge)
  })

  it('is checked in the order content type, size, syntax', async () => {
    expect(await read('x'.repeat(11), { 'Content-Type': 'text/plain' }, 10)).toEqual(unsupported)
    expect(await read('x'.repeat(11), json, 10)).toEqual(tooLarge)
    expect(await read('x', json, 10)).toContain(400)
    expect(await read(new Uint8Array([0x7b]), {})).toEqual(unsupported)
  })
})

describe('a content type', () => {
  it.each([
    'application/json',
    'APPLICATION/Json',
    'application/json; charset=utf-8',
    'application/json;charset="utf 8;\\""',
    'application/json;',
    'application/vnd.api+json ; x=y',
  ])('%s is JSON', (type) => {
    expect(isJsonMediaType(type)).toBe(true)
  })

  it.each([
    null, '', 'json', 'text/json', 'application/jsonx', 'application/xjson', 'application/+json', 'application/json+x', 'application/json; charset', 'application/json charset=x',
    'application/json; a="b', 'application/json, application/json', 'application/x; y=+json', 'text/plain',
  ])('%s is not', (type) => {
    expect(isJsonMediaType(type)).toBe(false)
  })
})
