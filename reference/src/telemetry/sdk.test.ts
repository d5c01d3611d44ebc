import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { recordingLogger } from '../testing/test-app.ts'
import { Sdk } from './sdk.ts'
import { readTelemetrySettings } from './settings.ts'

/** A collector that never answers. */
let collector: Server
let asked: Promise<IncomingHttpHeaders>

beforeEach(async () => {
  collector = createServer()
  asked = once(collector, 'request').then(([request]) => (request as { headers: IncomingHttpHeaders }).headers)
  collector.listen(0, '127.0.0.1')
  await once(collector, 'listening')
})

afterEach(async () => {
  collector.closeAllConnections()
  collector.close()
  await once(collector, 'close')
})

function start(signal: 'TRACES' | 'LOGS', more: Record<string, string> = {}): { sdk: Sdk; logger: ReturnType<typeof recordingLogger> } {
  const { port } = collector.address() as AddressInfo // it listens on a port
  const { settings } = readTelemetrySettings({ [`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`]: `http://127.0.0.1:${port}/`, ...more })
  if (settings === undefined) throw new Error('everything is off')
  const logger = recordingLogger()
  return { sdk: new Sdk(settings, logger.logger), logger }
}

it('ends in time, although the collector does not answer (T12)', async () => {
  const { sdk } = start('TRACES', { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=value' })
  sdk.telemetry.request({ method: 'GET', url: '/sessions', rawHeaders: [] })?.end(200)
  await sdk.shutdown(100)
  expect(await asked).toMatchObject({ 'x-key': 'value', 'content-type': 'application/x-protobuf' })
})

it('gives lines of the log the IDs of their span while traces are on (T20)', async () => {
  const { sdk } = start('TRACES')
  const request = sdk.telemetry.request({ method: 'GET', url: '/sessions', rawHeaders: [] })
  expect(request?.run(() => sdk.lineIds())).toMatchObject({
    trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    span_id: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
  })
  expect(sdk.lineIds()).toBeUndefined()
  await sdk.shutdown(100)
})

it('exports lines without traces, and passes them on (T19)', async () => {
  const { sdk, logger } = start('LOGS')
  const request = sdk.telemetry.request({ method: 'GET', url: '/sessions', rawHeaders: [] })
  request?.run(() => {
    expect(sdk.lineIds()).toBeUndefined()
    sdk.exporting(logger.logger).warn('something', { secret: 'field' })
  })
  await sdk.shutdown(100)
  await asked
  expect(logger.entries).toEqual([{ level: 'warn', message: 'something', fields: { secret: 'field' } }])
})
