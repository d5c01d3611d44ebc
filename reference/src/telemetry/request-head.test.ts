import { expect, it } from 'vitest'
import { asksStatus, requestAttributes } from './request-head.ts'
import type { RequestHead } from './telemetry.ts'

function head(method: string, url: string, ...hosts: string[]): RequestHead {
  return { method, url, rawHeaders: hosts.flatMap((host) => ['Host', host]) }
}

it.each([
  ['/sessions?key=secret', '/sessions'],
  ['/sessions#part', '/sessions'],
  ['/a%2fb\u00c3 "', '/a%2fb%C3%20"'],
  ['http://other:1/x?y', '/x'],
  ['http://other', '/'],
  ['*', '*'],
])('the path of %s is %s (T14)', (url, path) => {
  expect(requestAttributes(head('GET', url)).attributes['url.path']).toBe(path)
})

it.each([
  ['127.0.0.1:3000', { 'server.address': '127.0.0.1', 'server.port': 3000 }],
  ['example.com', { 'server.address': 'example.com' }],
  ['[::1]:80', { 'server.address': '::1', 'server.port': 80 }],
  ['example.com:', { 'server.address': 'example.com' }],
  ['example.com:99999', { 'server.address': 'example.com' }],
  ['a:b:c', {}],
  ['', {}],
])('the server at the host %j is %j (T14)', (host, server) => {
  const fixed = { 'http.request.method': 'GET', 'url.path': '/', 'url.scheme': 'http' }
  expect(requestAttributes(head('GET', '/', host)).attributes).toEqual({ ...fixed, ...server })
})

it('a method of other documents is _OTHER (T14)', () => {
  const { verb, attributes } = requestAttributes(head('PURGE', '/'))
  expect(verb).toBe('HTTP')
  expect(attributes).toMatchObject({ 'http.request.method': '_OTHER', 'http.request.method_original': 'PURGE' })
  expect(requestAttributes(head('PATCH', '/')).verb).toBe('PATCH')
})

it.each([['/status', true], ['/x/../status?a', true], ['/%73tatus', true], ['/status/', false], ['/sessions', false]])('%s asks for /status: %s (G8, T14)', (url, asks) => {
  expect(asksStatus(head('DELETE', url))).toBe(asks)
})
