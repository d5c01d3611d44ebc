import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it, vi } from 'vitest'
import { fetchPrices } from '../../pricing/fetch-prices.ts'
import { eventually } from '../../testing/eventually.ts'
import { GooseApp } from '../../testing/goose-app.ts'
import { temporaryRoot } from '../../testing/temporary-root.ts'

// The default address is on the internet, which no test may reach.
vi.mock(import('../../pricing/fetch-prices.ts'), async (original) => ({ ...(await original()), fetchPrices: vi.fn<typeof fetchPrices>() }))

const found = { list: new Map([['a', new Map([['b', { input_cost: 0.5, output_cost: 1.5, context_length: 8 }]])]]) }

beforeEach(() => {
  vi.mocked(fetchPrices).mockReset().mockResolvedValue(found)
})

it('config.yaml cannot set the address of the list (G67)', async () => {
  const app = new GooseApp({ environment: { GOOSE_PRICING_URL: '' } })
  writeFileSync(join(app.root, 'config/config.yaml'), 'GOOSE_PRICING_URL: http://127.0.0.1:1/list\n')
  expect(await app.call('POST', '/config/pricing', { configured_only: false })).toMatchObject({
    status: 200,
    text: '{"pricing":[{"provider":"a","model":"b","input_token_cost":0.5,"output_token_cost":1.5,"currency":"$","context_length":8}],"source":"openrouter"}',
  })
  expect(vi.mocked(fetchPrices).mock.calls).toEqual([[new URL('https://openrouter.ai/api/v1/models'), expect.any(AbortSignal)]])
})

it.each([{}, { configured_only: null }, { configured_only: true }])('%j fetches nothing (G70)', async (body) => {
  const app = new GooseApp({ environment: { GOOSE_PRICING_URL: '' } })
  expect(await app.call('POST', '/config/pricing', body)).toMatchObject({ status: 200, text: '{"pricing":[],"source":"openrouter"}' })
  expect(fetchPrices).not.toHaveBeenCalled()
})

it('a list that arrives when the server stops is not kept (G70)', async () => {
  const directory = temporaryRoot()
  const app = new GooseApp({ environment: { GOOSE_PRICING_URL: '', GOOSE_CACHE_DIR: directory } })
  vi.mocked(fetchPrices).mockImplementation(async () => {
    await app.app.stop()
    return found
  })
  expect(await app.call('POST', '/config/pricing', { configured_only: false })).toMatchObject({ text: '{"pricing":[],"source":"openrouter"}' })
  expect([readdirSync(directory), app.logs]).toEqual([[], []])
})

it('the app ends the fetch that runs when it stops (G70)', async () => {
  const ended = new Promise<void>((resolve) => {
    vi.mocked(fetchPrices).mockImplementation((_, signal) => new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        resolve()
        reject(signal.reason as Error) // the reason of an abort is always an Error
      })
    }))
  })
  const app = new GooseApp({ environment: { GOOSE_PRICING_URL: '' } })
  const asked = app.call('POST', '/config/pricing', { configured_only: false })
  await eventually(() => { expect(fetchPrices).toHaveBeenCalled() })
  await app.app.stop()
  await ended
  expect(await asked).toMatchObject({ status: 200, text: '{"pricing":[],"source":"openrouter"}' })
  expect(app.logs).toEqual([])
})
