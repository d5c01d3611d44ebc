import { describe, expect, it } from 'vitest'
import { decodeOnce, queryValues, routePath, urlOfTarget } from './url-path.ts'

/** The decoded segments of the path by which a raw request target is routed. */
function segments(target: string): string[] {
  const url = urlOfTarget(Buffer.from(target).toString('latin1'))
  if (url === undefined) throw new Error(`${target} is not a request target`)
  return routePath(url).split('/').map(decodeURIComponent)
}

describe('decodeOnce (CT 3.3)', () => {
  it.each([
    ['plain', 'plain'],
    ['a+b', 'a+b'],
    ['a%2Fb', 'a/b'],
    ['%c5%bc%C5%BC', 'żż'],
    ['%F0%9F%98%80', '😀'],
    ['%25', '%'],
    ['%2541', '%41'],
    ['%ZZ', '%ZZ'],
    ['%', '%'],
    ['%4', '%4'],
    ['%FF', '%FF'],
    ['%ff', '%ff'],
    ['a%2Fb%FF', 'a/b%FF'],
    ['%2F%FF%2F', '/%FF/'],
    ['%C5', '%C5'],
    ['%C5%41', '%C5A'],
    ['%C5%C5%BC', '%C5ż'],
    ['%E2%82', '%E2%82'],
    ['%E2%82%AC', '€'],
    ['%C0%AF', '%C0%AF'],
    ['%ED%A0%80', '%ED%A0%80'],
    ['%F4%90%80%80', '%F4%90%80%80'],
    ['%EF%BB%BFx', '\uFEFFx'],
    ['%00', '\0'],
  ])('%s is %j', (text, decoded) => {
    expect(decodeOnce(text)).toBe(decoded)
  })
})

describe('the route of a request target (CT 3.3)', () => {
  it.each<[target: string, segments: string[]]>([
    ['/a/b', ['', 'a', 'b']],
    ['/a//b', ['', 'a', '', 'b']],
    ['//a', ['', '', 'a']],
    ['/a/', ['', 'a', '']],
    ['/a/b%2Fc', ['', 'a', 'b/c']],
    ['/a/%252F', ['', 'a', '%2F']],
    ['/a/ż', ['', 'a', 'ż']],
    ['/a/%ZZ', ['', 'a', '%ZZ']],
    ['/a/x%5Cy', ['', 'a', 'x\\y']],
    ['/a\\b', ['', 'a', 'b']],
    ['/a/./b', ['', 'a', 'b']],
    ['/a/%2e', ['', 'a', '']],
    ['/a/b/..', ['', 'a', '']],
    ['/a/b/%2E%2e', ['', 'a', '']],
    ['/a/.%2E/b', ['', 'b']],
    ['/a/..%2Fb', ['', 'a', '../b']],
    ['/a/...', ['', 'a', '...']],
    ['/a/b?c/d', ['', 'a', 'b']],
    ['/a/"<>`{}|^', ['', 'a', '"<>`{}|^']],
    ['http://example.org/a/b', ['', 'a', 'b']],
    ['HTTP://example.org:80', ['', '']],
    ['https://example.org?x', ['', '']],
    ['*', ['', '*']],
  ])('%s is %j', (target, expected) => {
    expect(segments(target)).toEqual(expected)
  })

  it('keeps the escape of a byte that is not UTF-8', () => {
    expect(routePath(urlOfTarget('/a/\xff') ?? '')).toBe('/a/%25FF')
  })

  it.each(['', 'a/b', 'ftp://example.org/', 'example.org:80'])('rejects %j', (target) => {
    expect(urlOfTarget(target)).toBeUndefined()
  })
})

describe('queryValues', () => {
  it.each<[query: string, values: string[]]>([
    ['', []],
    ['?', []],
    ['?other=x', []],
    ['?d=/a', ['/a']],
    ['?d=%2Fa+b%2Bc', ['/a b+c']],
    ['?d=/a&x=1&d=/b', ['/a', '/b']],
    ['?d', ['']],
    ['?d=', ['']],
    ['?d=a=b', ['a=b']],
    ['?&&d=a;b', ['a;b']],
    ['?D=a', []],
    ['?%64=a', ['a']],
    ['?d=%ZZ%FF%C5%BC', ['%ZZ%FFż']],
    ['?d=ż\\', ['ż\\']],
  ])('finds d in %s', (query, values) => {
    const url = urlOfTarget(Buffer.from(`/p${query}`).toString('latin1'))
    expect(queryValues(url ?? '', 'd')).toEqual(values)
  })
})
