import { describe, expect, it } from 'vitest'
import { allowedUrl, canonicalUrl } from './url.ts'

const [encrypted, plain] = [new URL('https://far.example/mcp'), new URL('http://far.example/mcp')]

describe('URLs that are the same (X38)', () => {
  it.each([
    ['http://HOST/', 'http://host:80'],
    ['https://host:443/a/./b/../c', 'https://host/a/c'],
    ['http://host/%7e%2f?q=%41', 'http://host/~%2F?q=A'],
  ])('%s is %s', (a, b) => {
    expect(canonicalUrl(a)).toBe(canonicalUrl(b))
  })

  it.each([
    ['http://host/a', 'https://host/a'],
    ['http://host/a', 'http://host/A'],
    ['http://host/a', 'http://host/a/'],
    ['http://host/a?', 'http://host/a?b'],
    ['http://host/a%2Fb', 'http://host/a/b'],
    ['http://host:8080/', 'http://host/'],
  ])('%s is not %s', (a, b) => {
    expect(canonicalUrl(a)).not.toBe(canonicalUrl(b))
  })
})

describe('URLs of endpoints (X51)', () => {
  it.each(['https://a', 'https://a/b?c#'.slice(0, -1), 'HTTPS://a:8443/'])('%s is allowed for every extension', (text) => {
    expect([allowedUrl(text, encrypted), allowedUrl(text, plain)]).toEqual([new URL(text), new URL(text)])
  })

  it('http is allowed only if the extension uses it', () => {
    expect([allowedUrl('http://a/', encrypted), allowedUrl('http://a/', plain)]).toEqual([undefined, new URL('http://a/')])
  })

  it.each([
    '/a', 'a', '', 'ftp://a/', 'file:///a', 'javascript:alert(1)', 'https:///a', 'https:a', 'https:\\\\a', 'https://a\\b', 'https://a/#b', 'https://a/#',
    'https://u@a/', 'https://u:p@a/', 'https://@a/', ' https://a/', 'https://a/\nb', 'https://a/b c', 'https://a/é', 'https://a:99999/', 7, null, undefined, ['https://a/'],
  ])('%j is not allowed', (text) => {
    expect(allowedUrl(text, plain)).toBeUndefined()
  })
})
