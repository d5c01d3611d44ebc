import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import { GooseApp } from '../../testing/goose-app.ts'
import { temporaryRoot } from '../../testing/temporary-root.ts'
import { Upstream, plain, type Script } from '../../testing/upstream.ts'

const list = plain(200, { data: [{ id: 'a/b', pricing: { prompt: '0.5', completion: '1.5' }, context_length: 8 }] })
const nothing = { status: 200, text: '{"pricing":[],"source":"openrouter"}' }

/** An app whose list of prices is on this machine: no test may reach the default one. */
async function pricedApp(script: Script): Promise<{ app: GooseApp; upstream: Upstream; directory: string }> {
  const [upstream, directory] = [(await Upstream.start()).answers(script), temporaryRoot()]
  return { app: new GooseApp({ environment: { GOOSE_PRICING_URL: upstream.url, GOOSE_CACHE_DIR: directory } }), upstream, directory }
}

it('all prices are fetched (G70)', async () => {
  const { app } = await pricedApp(list)
  expect(await app.call('POST', '/config/pricing', { configured_only: false })).toMatchObject({
    status: 200,
    text: '{"pricing":[{"provider":"a","model":"b","input_token_cost":0.5,"output_token_cost":1.5,"currency":"$","context_length":8}],"source":"openrouter"}',
  })
})

it('config.yaml cannot set the address of the list (G67)', async () => {
  const upstream = (await Upstream.start()).answers(list)
  const app = new GooseApp({ environment: { GOOSE_PRICING_URL: 'none' } })
  writeFileSync(join(app.root, 'config/config.yaml'), `GOOSE_PRICING_URL: ${upstream.url}\n`)
  expect(await app.call('POST', '/config/pricing', { configured_only: false })).toMatchObject(nothing)
  expect(upstream.asked).toEqual([])
})

it.each([{}, { configured_only: null }, { configured_only: true }])('%j fetches nothing (G70)', async (body) => {
  const { app, upstream } = await pricedApp(list)
  expect(await app.call('POST', '/config/pricing', body)).toMatchObject(nothing)
  expect(upstream.asked).toEqual([])
})

it('a list that arrives when the server stops is not kept (G70)', async () => {
  const { app, directory } = await pricedApp((response, request) => {
    void app.app.stop().then(() => { list(response, request) })
  })
  expect(await app.call('POST', '/config/pricing', { configured_only: false })).toMatchObject(nothing)
  expect([readdirSync(directory), app.logs]).toEqual([[], []])
})

it('the app ends the fetch that runs when it stops (G70)', async () => {
  let isCut = false
  const { app, upstream } = await pricedApp((response) => { response.once('close', () => (isCut = true)) })
  const asked = app.call('POST', '/config/pricing', { configured_only: false })
  await eventually(() => { expect(upstream.asked).toHaveLength(1) })
  await app.app.stop()
  await eventually(() => { expect(isCut).toBe(true) })
  expect(await asked).toMatchObject(nothing)
  expect(app.logs).toEqual([])
})
