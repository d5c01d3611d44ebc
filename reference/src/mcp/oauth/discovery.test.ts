import { describe, expect, it, vi } from 'vitest'
import { useFakeTimers } from '../../testing/fake-timers.ts'
import { discover } from './discovery.ts'
import type { HttpAnswer } from './http-answer.ts'

useFakeTimers()

type Get = (url: URL, signal: AbortSignal) => Promise<HttpAnswer>

const notFound: HttpAnswer = { status: 404, headers: {}, object: undefined }
const endpoints = { authorization_endpoint: 'https://as.example/authorize', token_endpoint: 'https://as.example/token' }
const none = 'Sign-in failed: no authorization server found'
const { signal } = new AbortController()

function found(object: HttpAnswer['object']): HttpAnswer {
  return { status: 200, headers: {}, object }
}

function moved(location: string, status = 302): HttpAnswer {
  return { status, headers: { location }, object: undefined }
}

/** A network with these documents, and the URLs that were asked for. */
function network(documents: Readonly<Record<string, HttpAnswer>>): { get: Get; asked: string[] } {
  const asked: string[] = []
  const get: Get = ({ href }) => {
    asked.push(href)
    return Promise.resolve(documents[href] ?? notFound)
  }
  return { get, asked }
}

/** A server that never answers. */
function silent(_: URL, signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => { reject(signal.reason as Error) })
  })
}

describe('the discovery (GA 31.2, X50)', () => {
  it('tries all places in order, and sends neither the user of the URL nor its query', async () => {
    const { get, asked } = network({})
    await expect(discover(new URL('https://user:word@far.example//a/mcp/?q=1'), signal, get)).rejects.toThrow(none)
    expect(asked).toEqual([
      'https://far.example/.well-known/oauth-authorization-server/a/mcp',
      'https://far.example/a/mcp/.well-known/oauth-authorization-server',
      'https://far.example/.well-known/oauth-authorization-server',
      'https://far.example//a/mcp/?q=1',
      'https://far.example/.well-known/oauth-protected-resource/a/mcp',
      'https://far.example/a/mcp/.well-known/oauth-protected-resource',
      'https://far.example/.well-known/oauth-protected-resource',
    ])
  })

  it('ignores everything that would leave https (X51)', async () => {
    const { get, asked } = network({
      'https://far.example/.well-known/oauth-authorization-server/mcp': moved('http://far.example/plain'),
      'https://far.example/mcp/.well-known/oauth-authorization-server': found({ ...endpoints, token_endpoint: 'http://as.example/token' }),
      'https://far.example/.well-known/oauth-authorization-server': found({ ...endpoints, authorization_endpoint: 'http://as.example/authorize' }),
      'https://far.example/mcp': { status: 401, headers: { 'www-authenticate': 'Bearer resource_metadata="http://far.example/resource"' }, object: undefined },
      'https://far.example/.well-known/oauth-protected-resource': found({ authorization_servers: ['http://as.example', 'https://as.example'] }),
      'https://as.example/.well-known/oauth-authorization-server': found({ ...endpoints, registration_endpoint: 'http://as.example/register' }),
    })
    expect(await discover(new URL('https://far.example/mcp'), signal, get)).toEqual({
      authorizationEndpoint: endpoints.authorization_endpoint,
      tokenEndpoint: endpoints.token_endpoint,
      registrationEndpoint: undefined,
    })
    expect(asked.filter((url) => url.startsWith('http:'))).toEqual([])
  })

  it.each([[5, true], [6, false]])('follows at most 5 redirects: %d', async (count, isFound) => {
    const first = 'https://far.example/.well-known/oauth-authorization-server'
    const hops = Array.from({ length: count }, (_, i) => `https://far.example/${i + 1}`)
    const redirects = [first, ...hops.slice(0, -1)].map((from, i): [string, HttpAnswer] => [from, moved(`/${i + 1}`)])
    const { get } = network({ ...Object.fromEntries(redirects), [hops.at(-1) ?? '']: found(endpoints) })
    const metadata = await discover(new URL('https://far.example/'), signal, get).catch(() => undefined)
    expect(metadata !== undefined).toBe(isFound)
  })

  it('tries only the first 5 servers of a resource', async () => {
    const servers = Array.from({ length: 6 }, (_, i) => `https://as-${i}.example/.well-known/a`)
    const { get, asked } = network({ 'https://far.example/': found({ authorization_servers: servers }), [servers[5] ?? '']: found(endpoints) })
    await expect(discover(new URL('https://far.example/'), signal, get)).rejects.toThrow(none)
    expect(asked.filter((url) => url.startsWith('https://as-'))).toEqual(servers.slice(0, 5))
  })

  it('gives up a document after 30 s, and all after 60 s', async () => {
    const get = vi.fn(silent)
    const outcome = expect(discover(new URL('https://far.example/mcp'), signal, get)).rejects.toThrow(none)
    await vi.advanceTimersByTimeAsync(29_999)
    expect(get).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(get).toHaveBeenCalledTimes(2)
    await vi.advanceTimersByTimeAsync(30_000)
    await outcome
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ends with the reason of its signal, and leaves no timer', async () => {
    const over = new AbortController()
    const outcome = expect(discover(new URL('https://far.example/mcp'), over.signal, silent)).rejects.toThrow('no request waits')
    over.abort(new Error('no request waits'))
    await outcome
    expect(vi.getTimerCount()).toBe(0)
  })
})
