import { connect } from 'node:net'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AppOptions } from '../../app.ts'
import { jsonLogger } from '../../log.ts'
import { AuthServer, json } from '../../testing/auth-server.ts'
import { eventually } from '../../testing/eventually.ts'
import { GooseApp } from '../../testing/goose-app.ts'
import type { Answer } from '../../testing/test-app.ts'
import { temporaryRoot } from '../../testing/temporary-root.ts'

/** A goose server whose user gets the pages as printed lines. */
class SignInApp extends GooseApp {
  readonly pages: URL[]

  constructor(environment: Record<string, string> = { GOOSE_OAUTH_BROWSER: 'none' }, options: Partial<AppOptions> = {}) {
    const pages: URL[] = []
    super({ environment: { PATH: process.env.PATH ?? '', ...environment }, print: (line) => pages.push(new URL(line)), ...options })
    this.pages = pages
    onTestFinished(() => this.app.stop())
  }

  /** Adds an extension; the answer comes when the user has signed in. */
  add(config: object, { session = 'a', signal }: { session?: string; signal?: AbortSignal } = {}): Promise<Answer> {
    const init = { method: 'POST', body: JSON.stringify({ session_id: session, config }), headers: { 'Content-Type': 'application/json' } }
    return this.fetch('/agent/add_extension', { ...init, ...(signal && { signal }) })
  }

  async page(count = 1): Promise<URL> {
    await eventually(() => { expect(this.pages).toHaveLength(count) })
    return this.pages.at(-1) ?? new URL('about:blank')
  }

  /** Everything that the server has logged, as it writes it. */
  get log(): string {
    let text = ''
    const logger = jsonLogger((line) => (text += line))
    for (const { level, message, fields } of this.logs) logger[level](message, fields)
    return text
  }
}

function callback(page: URL, query: Record<string, string> = { code: 'canary-code' }): URL {
  const url = new URL(page.searchParams.get('redirect_uri') ?? '')
  url.search = new URLSearchParams({ state: page.searchParams.get('state') ?? '', ...query }).toString()
  return url
}

async function comeBack(page: URL, query?: Record<string, string>): Promise<number> {
  return (await fetch(callback(page, query))).status
}

/** A program that is started as the browser. */
function browser(root: string, script: string): string {
  const path = join(root, 'browser')
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o700)
  return path
}

/** Whether something listens at the URL. */
function listens(url: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(url.port), '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => { resolve(false) })
  })
}

/** How many timers, sockets and child processes keep this process alive. */
function held(): number {
  return process.getActiveResourcesInfo().filter((name) => /Timeout|TCP|Process/.test(name)).length
}

async function expectNothingLeft(page: URL): Promise<void> {
  await eventually(async () => { expect(await listens(callback(page))).toBe(false) })
}

describe('a sign-in (GA 31)', () => {
  it('prints the page without a browser, and ends with a token (X53)', async () => {
    const [server, app] = [await AuthServer.start(), new SignInApp()]
    const added = app.add(server.extension())
    const page = await app.page()
    expect(await comeBack(page)).toBe(200)
    expect(await added).toMatchObject({ status: 200, text: '' })
    await expectNothingLeft(page)
    expect(app.pages).toHaveLength(1)
  })

  it.each([
    ['is not there', '/nowhere/at/all'],
    ['exits with another status than 0', 'FAILS'],
  ])('prints the page, and waits, if the browser %s', async (_, command) => {
    const root = temporaryRoot()
    const script = browser(root, 'touch started; exit 3')
    const [server, app] = [await AuthServer.start(), new SignInApp({ GOOSE_OAUTH_BROWSER: command.replace('FAILS', script) }, { directory: root })]
    const added = app.add(server.extension())
    const page = await app.page()
    expect(await comeBack(page)).toBe(200)
    expect((await added).status).toBe(200)
    expect(app.pages).toHaveLength(1)
    expect(existsSync(join(root, 'started'))).toBe(command === 'FAILS')
  })

  it('does not print the page if the browser ends well', async () => {
    const root = temporaryRoot()
    const script = browser(root, 'printf %s "$1" > new; mv new page')
    const [server, app] = [await AuthServer.start(), new SignInApp({ GOOSE_OAUTH_BROWSER: script }, { directory: root })]
    const added = app.add(server.extension())
    await eventually(() => { expect(existsSync(join(root, 'page'))).toBe(true) })
    expect(await comeBack(new URL(readFileSync(join(root, 'page'), 'utf8')))).toBe(200)
    expect((await added).status).toBe(200)
    expect(app.pages).toEqual([])
  })

  it.each([
    ['the user refuses', { error: 'canary-error' }],
    ['the state is wrong', { code: 'canary-code', state: 'canary-state' }],
  ])('leaves nothing when %s', async (_, query) => {
    const [server, app] = [await AuthServer.start(), new SignInApp()]
    const before = held()
    const added = app.add(server.extension())
    const page = await app.page()
    expect(await comeBack(page, query)).toBe(400)
    expect((await added).status).toBe(500)
    await expectNothingLeft(page)
    await eventually(() => { expect(held()).toBeLessThanOrEqual(before) })
    expect(app.log).not.toContain('canary')
  })

  it('leaves nothing when its client disconnects', async () => {
    const [server, app] = [await AuthServer.start(), new SignInApp()]
    const [before, client] = [held(), new AbortController()]
    const added = app.add(server.extension(), { signal: client.signal })
    const page = await app.page()
    client.abort()
    await expect(added).rejects.toThrow('abort')
    await expectNothingLeft(page)
    await eventually(() => { expect(held()).toBeLessThanOrEqual(before) })
    expect(JSON.parse((await app.call('POST', '/config/read', { key: 'oauth_creds_Far', is_secret: true })).text)).toBeNull()
  })

  it('leaves nothing when the server stops', async () => {
    const [server, app] = [await AuthServer.start(), new SignInApp()]
    const before = held()
    const added = app.add(server.extension())
    const page = await app.page()
    await app.app.stop()
    expect(await added).toMatchObject({ status: 500, text: '{"message":"Failed to add extension: Connection closed"}' })
    await expectNothingLeft(page)
    await eventually(() => { expect(held()).toBeLessThanOrEqual(before) })
  })

  it('is shared by requests of the same name and URL, and runs on while one of them waits', async () => {
    const [server, app, client] = [await AuthServer.start(), new SignInApp(), new AbortController()]
    const first = app.add(server.extension(), { signal: client.signal })
    const page = await app.page()
    const second = app.add(server.extension(), { session: 'b' })
    await eventually(() => { expect(server.lines('POST /mcp')).toHaveLength(2) })
    // The answer to the second request must have arrived before the first client leaves.
    await eventually(async () => { expect((await app.get('/status')).status).toBe(200) })
    client.abort()
    await expect(first).rejects.toThrow('abort')
    expect(await comeBack(page)).toBe(200)
    expect((await second).status).toBe(200)
    expect(app.pages).toHaveLength(1)
  })

  it('fails if 16 others run (X48)', async () => {
    const [server, app] = [await AuthServer.start(), new SignInApp()]
    const client = new AbortController()
    const running = Array.from({ length: 16 }, (_, i) => app.add(server.extension(`E${i}`), { signal: client.signal }))
    await app.page(16)
    const refused = await app.add(server.extension('More'))
    expect(refused).toMatchObject({ status: 500, text: '{"message":"Failed to add extension: Sign-in failed: too many sign-ins"}' })
    client.abort()
    await Promise.allSettled(running)
    const added = app.add(server.extension('More'))
    await comeBack(await app.page(17))
    expect((await added).status).toBe(200)
  })

  it('logs nothing that is secret, and no text of the authorization server (X59)', async () => {
    const [server, app] = [await AuthServer.start(), new SignInApp()]
    server.answer = ({ line, body }, response) => {
      const isRefused = line === 'POST /token' && (server.lines('POST /token').length === 1 || body.includes('refresh'))
      if (isRefused) json(response, 400, { error: 'canary-error', error_description: 'canary-description' })
      return isRefused
    }
    for (const [i, status] of [500, 200].entries()) {
      const added = app.add(server.extension())
      const page = await app.page(i + 1)
      await comeBack(page)
      const answer = await added
      expect(answer.status).toBe(status)
      expect(answer.text).not.toContain('canary')
      for (const name of ['state', 'code_challenge']) expect(app.log).not.toContain(page.searchParams.get(name))
    }
    const verifiers = server.lines('POST /token').map(({ body }) => new URLSearchParams(body).get('code_verifier') ?? '')
    expect(verifiers.map((verifier) => verifier.length)).toEqual([43, 43])
    const usual = server.answer
    server.answer = (request, response) => {
      if (!request.body.includes('tools/list')) return usual(request, response)
      response.writeHead(401).end('canary-body')
      return true
    }
    await app.get('/agent/tools?session_id=a&extension_name=far')
    expect(app.logs.map(({ message }) => message)).toContain('token not renewed')
    for (const secret of ['canary', server.url, ...verifiers]) expect(app.log).not.toContain(secret)
  })
})

describe('the token of a connection (X57)', () => {
  async function connected(): Promise<{ server: AuthServer; app: SignInApp }> {
    const [server, app] = [await AuthServer.start(), new SignInApp()]
    const added = app.add(server.extension())
    await comeBack(await app.page())
    expect((await added).status).toBe(200)
    return { server, app }
  }

  it('is refreshed once for all requests that were rejected at the same time', async () => {
    const { server, app } = await connected()
    server.answer = ({ body, authorization }, response) => {
      const isRejected = body.includes('tools/list') && authorization === 'Bearer canary-access-1'
      if (isRejected) response.writeHead(401).end()
      return isRejected
    }
    const lists = await Promise.all(Array.from({ length: 5 }, () => app.get('/agent/tools?session_id=a&extension_name=far')))
    expect(lists.map(({ text }) => text.includes('far__t'))).toEqual([true, true, true, true, true])
    expect(server.lines('POST /token').filter(({ body }) => body.includes('grant_type=refresh_token'))).toHaveLength(1)
  })

  it('stays when the authorization server is silent, until the next request', async () => {
    const { server, app } = await connected()
    server.answer = ({ line, body }, response) => {
      if (line === 'POST /token') response.destroy()
      else if (body.includes('tools/list') && server.lines('POST /token').length < 2) response.writeHead(401).end()
      else return false
      return true
    }
    expect((await app.get('/agent/tools?session_id=a&extension_name=far')).text).toBe('[]')
    expect((await app.get('/agent/tools?session_id=a&extension_name=far')).text).toContain('far__t')
  })
})
