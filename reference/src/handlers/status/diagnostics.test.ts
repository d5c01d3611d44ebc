import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { strFromU8, unzipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { GooseApp } from '../../testing/goose-app.ts'

/** A server with a stored session whose ID no request could have made. */
async function withStoredSession(id: string): Promise<GooseApp> {
  const app = new GooseApp()
  const original = await app.start()
  const log = (name: string): string => join(app.root, 'data/sessions/log', `${name}.jsonl`)
  writeFileSync(log(id), readFileSync(log(original), 'utf8').replace(JSON.stringify(original), JSON.stringify(id)))
  return app.restarted()
}

async function archive(app: GooseApp, id: string): Promise<[string, string][]> {
  const request = new Request(`http://x/diagnostics/${id}`, { headers: { 'X-Secret-Key': 'test' } })
  const response = await app.app.fetch(request)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/zip',
    'content-disposition': `attachment; filename="diagnostics_${id}.zip"`,
  })
  const files = unzipSync(new Uint8Array(await response.arrayBuffer()))
  return Object.entries(files).map(([name, bytes]) => [name, strFromU8(bytes)])
}

describe('GET /diagnostics/{session_id} (GA 5.2)', () => {
  it('contains the files that exist', async () => {
    const app = new GooseApp()
    const id = await app.start()
    const files = await archive(app, id)
    expect(files.map(([name]) => name)).toEqual(['session.json', 'system.txt'])
    expect(files[0]?.[1]).toBe(JSON.parse((await app.get(`/sessions/${id}/export`)).text))
    expect(files[1]?.[1]).toMatch(/^App Version: 1\.16\.0\nOS: .+\nOS Version: .+\nArchitecture: .+\nTimestamp: \d{4}-.+Z\n$/)
  })

  it('contains everything, in order, and the ten newest logs', async () => {
    const app = new GooseApp()
    const id = await app.start()
    const write = (path: string, text: string): void => {
      mkdirSync(join(app.root, path, '..'), { recursive: true })
      writeFileSync(join(app.root, path), text)
    }
    for (let i = 0; i < 12; i++) {
      write(`state/logs/llm_request.${i}.jsonl`, `log ${i}`)
      utimesSync(join(app.root, `state/logs/llm_request.${i}.jsonl`), 0, 1000 + i)
    }
    write('state/logs/other.log', '')
    write('state/logs/deep/x.jsonl', '')
    write('config/config.yaml', 'a: 1 # as it is\n')
    write('config/secrets.yaml', 'K: secret\n')
    write('data/schedule.json', '[]')
    write('data/schedules.json', '[1]')
    write('data/scheduled_recipes/r.yaml', 'recipe')
    write('data/scheduled_recipes/deep/r.yaml', '')
    const files = await archive(app, id)
    expect(files.map(([name]) => name)).toEqual([
      ...[11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((i) => `logs/llm_request.${i}.jsonl`),
      'session.json', 'config.yaml', 'system.txt', 'schedule.json', 'schedules.json', 'scheduled_recipes/r.yaml',
    ])
    expect(Object.fromEntries(files)).toMatchObject({ 'logs/llm_request.11.jsonl': 'log 11', 'config.yaml': 'a: 1 # as it is\n' })
  })

  it('contains only plain files, and does not wait for others (G18)', async () => {
    const app = new GooseApp()
    const id = await app.start()
    const at = (path: string): string => join(app.root, path)
    mkdirSync(at('data/scheduled_recipes'))
    for (const path of ['data/schedule.json', 'data/scheduled_recipes/pipe', 'state/logs/pipe.jsonl']) execFileSync('mkfifo', [at(path)])
    for (const path of ['data/schedules.json', 'data/scheduled_recipes/link', 'state/logs/link.jsonl']) symlinkSync('/etc/hostname', at(path))
    const files = await archive(app, id)
    expect(files.map(([name]) => name)).toEqual(['session.json', 'system.txt'])
  })

  it('does not delay other requests, however large it is', async () => {
    const app = new GooseApp()
    const id = await app.start()
    const noise = Buffer.alloc(16 * 1024 * 1024, 'a line of a log, over and over\n')
    writeFileSync(join(app.root, 'state/logs/llm_request.0.jsonl'), noise)
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    const [[name, text] = []] = await archive(app, id)
    clearInterval(timer)
    expect([name, text?.length]).toEqual(['logs/llm_request.0.jsonl', noise.length])
    expect(turns).toBeGreaterThan(20)
  })

  it('is a 500 when there is more than 256 MiB', async () => {
    const app = new GooseApp()
    const id = await app.start()
    const path = join(app.root, 'state/logs/llm_request.0.jsonl')
    writeFileSync(path, '')
    truncateSync(path, 257 * 1024 * 1024)
    expect(await app.get(`/diagnostics/${id}`)).toMatchObject({ status: 500, text: '' })
  })

  it.each(['a\u0001b', '\r\n', '\t', '\u001F', '\u007F'])('is a 400 for the session %j, which no header can contain', async (id) => {
    const app = await withStoredSession(id)
    const path = encodeURIComponent(id)
    expect(JSON.parse((await app.get(`/sessions/${path}`)).text)).toMatchObject({ id })
    const refused = await app.get(`/diagnostics/${path}`)
    expect(refused).toMatchObject({ status: 400, text: '' })
    expect(refused.headers.get('Content-Type')).toBeNull()
  })

  it('writes other IDs into the header as UTF-8', async () => {
    const id = 'ż\u0085💩'
    const app = await withStoredSession(id)
    const { status, headers } = await app.get(`/diagnostics/${encodeURIComponent(id)}`)
    expect(status).toBe(200)
    expect(Buffer.from(headers.get('Content-Disposition') ?? '', 'latin1').toString()).toBe(`attachment; filename="diagnostics_${id}.zip"`)
  })

  it.each(['nope', '..%2Fx', 'a%22b', '%01', '%0D%0A', '%7F', '%C5%BC'])('is a 500 for the unknown session %s', async (id) => {
    expect(await new GooseApp().get(`/diagnostics/${id}`)).toMatchObject({ status: 500, text: '' })
  })

  it('is a 500 when the logs cannot be read', async () => {
    const app = new GooseApp()
    const id = await app.start()
    rmSync(join(app.root, 'state/logs'), { recursive: true })
    expect(await app.get(`/diagnostics/${id}`)).toMatchObject({ status: 500, text: '' })
    expect(app.logs).toMatchObject([{ message: 'request failed', fields: { err: { cause: { code: 'ENOENT' } } } }])
  })
})
