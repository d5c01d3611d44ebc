import { describe, expect, it } from 'vitest'
import { ValidationError } from './errors.ts'
import { directoryOf } from './directory.ts'

function directory(query: string, header?: string): string {
  const headers = header === undefined ? {} : { 'x-opencode-directory': Buffer.from(header).toString('latin1') }
  return directoryOf(new Request(`http://x/event${query}`, { headers }), '/default')
}

describe('directoryOf (CT 3.6, S4)', () => {
  it.each<[query: string, header: string | undefined, expected: string]>([
    ['', undefined, '/default'],
    ['?directory=/a', undefined, '/a'],
    ['?directory=/a', '/b', '/a'],
    ['', '/b', '/b'],
    ['?directory=', undefined, '/default'],
    ['?directory', '/b', '/b'],
    ['', '', '/default'],
    ['?directory=%2Fa%2F..%2F+b/', undefined, '/a/../ b/'],
    ['?Directory=/a', undefined, '/default'],
    ['', '/ż', '/ż'],
    ['', '%2Fa', '%2Fa'],
  ])('for %j and the header %j is %s', (query, header, expected) => {
    expect(directory(query, header)).toBe(expected)
  })

  it('joins several header lines (S5)', () => {
    const request = new Request('http://x/')
    request.headers.append('x-opencode-directory', '/a')
    request.headers.append('X-OpenCode-Directory', '/b')
    expect(directoryOf(request, '/default')).toBe('/a, /b')
  })

  it.each([
    'eda080',
    'ffffff',
    'e282',
    'e28241',
    'f09f98',
    'f0808080',
    'f4908080',
    'c0af',
    'c5bcc5',
    'f09f9880',
    'efbbbf2f61',
  ])('reads the bytes %s like a body, except for the byte order mark (S24)', (hex) => {
    const bytes = Buffer.from(hex, 'hex')
    const request = new Request('http://x/', { headers: { 'x-opencode-directory': bytes.toString('latin1') } })
    expect(directoryOf(request, '/default')).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  })

  it.each([
    ['?directory=/a&directory=/b', ['/a', '/b']],
    ['?directory=/a&directory=/a&x=1&directory=', ['/a', '/a', '']],
  ])('rejects %s', (query, values) => {
    const error = new ValidationError({ directory: values }, [
      {
        expected: 'string',
        code: 'invalid_type',
        path: ['directory'],
        message: 'Invalid input: expected string, received array',
      },
    ])
    expect(() => directory(query, '/c')).toThrow(error)
    try {
      directory(query)
    } catch (thrown) {
      expect(thrown).toEqual(error)
    }
  })
})
