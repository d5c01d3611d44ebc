import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryRoot } from '../testing/temporary-root.ts'
import { recordingLogger, type LogEntry } from '../testing/test-app.ts'
import { PriceFile } from './price-file.ts'

const good = '{"input_cost":1,"output_cost":2}'
const bad = '{"input_cost":1}'
const negative = '{"input_cost":-0,"output_cost":2}'

interface Rig {
  path: string
  file: PriceFile
  logs: LogEntry[]
}

function rig(): Rig {
  const path = join(temporaryRoot(), 'pricing_cache.json')
  const { logger, entries } = recordingLogger()
  return { path, file: new PriceFile(path, logger), logs: entries }
}

/** The costs of input by model in a file whose providers are these; undefined if it has another form. */
async function costs(providers: string): Promise<object | undefined> {
  const { path, file } = rig()
  writeFileSync(path, `{"pricing":{${providers}},"fetched_at":1}`)
  const prices = await file.read()
  return prices && Object.fromEntries([...prices.list.values()].flatMap((models) => [...models].map(([model, price]) => [model, price.input_cost])))
}

it.each<[providers: string, found: object | undefined]>([
  [`"a":{"m":${good},"n":${good}}`, { m: 1, n: 1 }],
  [`"a":{"m":{"input_cost":5,"output_cost":2},"m":${good}}`, { m: 1 }],
  [`"a":{"m":${bad},"m":${good}}`, undefined],
  [`"a":{"m":${good},"m":${bad}}`, undefined],
  [`"a":{"m":${good}},"a":{"n":${good}}`, { n: 1 }],
  [`"a":{"m":${bad}},"a":{"n":${good}}`, undefined],
  [`"a":{"m":{"x":1,"m":${bad}}},"a":{}`, undefined],
  [`"a":{"m":${bad},"m":${good}},"a":{}`, undefined],
  [`"a":null,"a":{}`, undefined],
  [`"a":{"m":${negative},"m":${good}}`, { m: 1 }],
  [`"a":{"m":${good},"m":${negative}}`, {}],
])('of repeated providers and models the last one counts, but each must have the form (G69): %s', async (providers, found) => {
  expect(await costs(providers)).toEqual(found)
})

it.each([[16, (1 << 20) - 1, 16], [16, 1 << 20, undefined], [15, 1 << 20, 15]])(
  'of %i models, each of a provider with a name of %i bytes, %s have a price (G69)', async (models, length, found) => {
    const names = Array.from({ length: models }, (_, n) => `"${n.toString(16)}":${good}`)
    const read = await costs(`"${'p'.repeat(length)}":{${names.join(',')}}`)
    expect(read && Object.keys(read).length).toBe(found)
  },
)

it('a file that cannot be read is logged once, and again for another reason (G69)', async () => {
  const { path, file, logs } = rig()
  const readAs = async (text: string): Promise<unknown> => {
    writeFileSync(path, text)
    return file.read()
  }
  expect(await file.read()).toBeUndefined()
  const wrong = '{"pricing":{"a":{"m":{"input_cost":"1","output_cost":1}}},"fetched_at":1}'
  for (const text of ['{', '[', wrong, '{"pricing":{},"fetched_at":1}', '{']) await readAs(text)
  rmSync(path)
  await file.read()
  await readAs('{')
  expect(logs.map(({ level, message, fields }) => [level, message, fields.file, fields.why])).toEqual([
    'not JSON', 'pricing.a.m.input_cost: invalid type: string, expected a number', 'not JSON', 'not JSON',
  ].map((why) => ['warn', 'prices not read', path, why]))
})
