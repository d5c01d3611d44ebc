import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { GooseApp } from '../../testing/goose-app.ts'
import { temporaryRoot } from '../../testing/temporary-root.ts'
import { Upstream, plain, type Script } from '../../testing/upstream.ts'

const list = { data: [{ id: 'a/b', pricing: { prompt: '0.5', completion: '1.5' }, context_length: 8 }] }
const text = '{"pricing":[{"provider":"a","model":"b","input_token_cost":0.5,"output_token_cost":1.5,"currency":"$","context_length":8}],"source":"openrouter"}'
const none = '{"pricing":[],"source":"openrouter"}'
const all = { configured_only: false }

interface Rig {
  upstream: Upstream
  app: GooseApp
  /** The file with the prices. */
  file: string
}

/** A server, and the one with the list, on loopback. */
async function rig(...scripts: Script[]): Promise<Rig> {
  const upstream = await Upstream.start()
  for (const script of scripts) upstream.answers(script)
  const directory = temporaryRoot()
  const app = new GooseApp({ environment: { GOOSE_PRICING_URL: `${upstream.url}/list`, GOOSE_CACHE_DIR: directory } })
  return { upstream, app, file: join(directory, 'pricing_cache.json') }
}

it('config.yaml cannot set the address of the list (G67)', async () => {
  const { upstream, app } = await rig(plain(200, list))
  writeFileSync(join(app.root, 'config/config.yaml'), `GOOSE_PRICING_URL: ${upstream.url}/other\n`)
  expect(await app.call('POST', '/config/pricing', all)).toMatchObject({ status: 200, text })
  expect(upstream.asked.map(({ path }) => path)).toEqual(['/list'])
})

it.each([{}, { configured_only: null }, { configured_only: true }])('%j fetches nothing (G70)', async (body) => {
  const { upstream, app } = await rig()
  expect(await app.call('POST', '/config/pricing', body)).toMatchObject({ status: 200, text: none })
  expect(upstream.asked).toEqual([])
})

it('requests share the bytes of all prices', async () => {
  const { app } = await rig(plain(200, list))
  const chunks: unknown[] = []
  for (let i = 0; i < 2; i++) {
    const headers = { 'X-Secret-Key': 'test', 'Content-Type': 'application/json' }
    const { body } = await app.app.fetch(new Request('http://localhost/config/pricing', { method: 'POST', headers, body: JSON.stringify(all) }))
    for await (const chunk of body ?? []) chunks.push(chunk)
  }
  expect(chunks).toHaveLength(2)
  expect(chunks[0]).toBe(chunks[1])
})

it('a stop of the app ends the fetch that runs, without a result (G70)', async () => {
  let begin = (): void => undefined
  const isBegun = new Promise<void>((resolve) => (begin = resolve))
  let close = (): void => undefined
  const isClosed = new Promise<void>((resolve) => (close = resolve))
  const { app, file } = await rig((response) => {
    response.on('close', close)
    response.writeHead(200).write(JSON.stringify(list), begin)
  })
  const answer = app.call('POST', '/config/pricing', all)
  await isBegun
  await app.app.stop()
  await isClosed
  expect(await answer).toMatchObject({ status: 200, text: none })
  expect([existsSync(file), app.logs]).toEqual([false, []])
})
