import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { CallbackListener } from './callback-listener.ts'

const state = 's'.repeat(43)
const { signal } = new AbortController()

async function open(): Promise<{ listener: CallbackListener; port: number }> {
  const listener = await CallbackListener.open(state)
  onTestFinished(() => {
    listener.close()
  })
  return { listener, port: Number(new URL(listener.redirectUri).port) }
}

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined) // a reset is one way to end
  onTestFinished(() => {
    socket.destroy()
  })
  await once(socket, 'connect')
  return socket
}

/** Everything that comes until the connection ends. */
async function rest(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (data: Buffer) => (text += data.toString()))
  await closed(socket)
  return text
}

/** Resolves when the connection has ended, also if by a reset. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => { resolve() }))
}

function head(port: number, target: string, more = ''): string {
  return `GET ${target} HTTP/1.1\r\nHost: localhost:${port}\r\n${more}\r\n`
}

async function ask(port: number, text: string): Promise<string> {
  const socket = await dial(port)
  const answer = rest(socket)
  socket.write(text)
  return answer
}

describe('the listener of the callback (X54)', () => {
  it('gives the code to the one who waits, and closes its port and all other connections', async () => {
    const { listener, port } = await open()
    const idle = await dial(port)
    const ended = closed(idle)
    const code = listener.code(signal)
    const answer = await ask(port, head(port, `/oauth_callback?code=canary-code&state=${state}`))
    expect(await code).toBe('canary-code')
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
    expect(answer).not.toContain('canary')
    await ended
    await expect(dial(port)).rejects.toThrow('ECONNREFUSED')
  })

  it('keeps an answer that came before anybody waited', async () => {
    const { listener, port } = await open()
    await ask(port, head(port, '/oauth_callback?error=canary'))
    await expect(listener.code(signal)).rejects.toThrow('Sign-in failed: the authorization server refused it')
  })

  it.each([
    ['GET http://localhost/oauth_callback HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n', /^HTTP\/1\.1 404 /],
    ['GET /oauth_callback HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 403 /],
    ['GET /oauth_callback?code=a HTTP/1.1\r\nHost: localhost:PORT\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n', /^HTTP\/1\.1 400 [^]*\r\nCache-Control: no-store\r\n/],
    ['PUT /oauth_callback HTTP/1.1\r\nHost: localhost:PORT\r\nExpect: magic\r\n\r\n', /^HTTP\/1\.1 405 [^]*\r\nCache-Control: no-store\r\n/],
    ['no HTTP\r\n\r\n', /^$/],
  ])('answers %j, and waits on', async (text, expected) => {
    const { listener, port } = await open()
    expect(await ask(port, text.replace('PORT', String(port)))).toMatch(expected)
    const code = listener.code(signal)
    await ask(port, head(port, `/oauth_callback?code=a&state=${state}`))
    expect(await code).toBe('a')
  })

  it.each([[15_000, /^HTTP\/1\.1 404 /], [17_000, /^$/]])('reads heads of at most 16 KiB: %d bytes', async (bytes, expected) => {
    const { port } = await open()
    expect(await ask(port, head(port, '/', `X-More: ${'x'.repeat(bytes)}\r\n`))).toMatch(expected)
  })

  it('has at most 16 connections', async () => {
    const { port } = await open()
    const held: Socket[] = []
    for (let i = 0; i < 16; i++) held.push(await dial(port))
    const [first] = held
    if (first === undefined) throw new Error('there is no connection')
    expect(await ask(port, head(port, '/'))).toBe('') // the 17th is closed at once
    const answer = rest(first)
    first.write(head(port, '/'))
    expect(await answer).toMatch(/^HTTP\/1\.1 404 /)
  })

  it('ends a connection after 10 s, whatever it sends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const { port } = await open()
    const socket = await dial(port)
    socket.write('GET / HTTP/1.1\r\nX-More: ')
    while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve))
    const answer = rest(socket)
    await vi.advanceTimersByTimeAsync(9_999)
    expect(socket.closed).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await answer).toBe('')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is closed, and leaves no connection and no timer, when its sign-in ends', async () => {
    const { listener, port } = await open()
    const over = new AbortController()
    const code = expect(listener.code(over.signal)).rejects.toThrow('over')
    const ended = closed(await dial(port))
    over.abort(new Error('over'))
    await code
    listener.close()
    await ended
    await expect(dial(port)).rejects.toThrow('ECONNREFUSED')
  })
})
