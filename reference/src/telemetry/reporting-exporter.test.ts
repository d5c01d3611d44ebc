import { expect, it } from 'vitest'
import { recordingLogger } from '../testing/test-app.ts'
import { reportFailures } from './reporting-exporter.ts'

const settings = { url: 'http://user:canary@127.0.0.1:4318/canary?canary', headers: { 'x-key': 'canary' }, timeoutMillis: 1, compression: 'none' } as const

/** Exports with these results, and returns what is logged. */
function reported(...results: { code: number; error?: Error }[]): object[] {
  const { logger, entries } = recordingLogger()
  const exporter = {
    export: (result: { code: number; error?: Error }, done: (result: { code: number; error?: Error }) => void) => { done(result) },
  }
  reportFailures(exporter, 'traces', settings, logger)
  const passed: unknown[] = []
  for (const result of results) exporter.export(result, (done) => passed.push(done))
  expect(passed).toEqual(results)
  return entries
}

const refused = { code: 1, error: Object.assign(new Error('canary'), { name: 'OTLPExporterError', code: 401 }) }

it('the first failure after a success is logged (T11)', () => {
  const line = { level: 'warn', message: 'export failed', fields: { signal: 'traces', endpoint: 'http://127.0.0.1:4318', reason: 'status 401' } }
  expect(reported(refused, refused)).toEqual([line])
  expect(reported(refused, { code: 0 }, refused)).toEqual([line, line])
  expect(reported({ code: 0 })).toEqual([])
})

it.each([
  [Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  [Object.assign(new Error('canary'), { name: 'OTLPExporterError' }), 'not accepted in time'],
  [new Error('Request timed out'), 'Request timed out'],
])('the reason of %s is %s, without the words of a collector (T11)', (error, reason) => {
  expect(reported({ code: 1, error })).toMatchObject([{ fields: { reason } }])
})
