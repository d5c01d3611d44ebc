import { describe, expect, it } from 'vitest'
import { readTelemetrySettings, type TelemetrySettings } from './settings.ts'

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }

function settingsOf(environment: Record<string, string>): TelemetrySettings {
  const { settings, warnings } = readTelemetrySettings(environment)
  expect(warnings).toEqual([])
  if (settings === undefined) throw new Error('everything is off')
  return settings
}

describe('the settings of telemetry', () => {
  it('are off without an endpoint, and then no other variable is read (T1)', () => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_EXPORTER: 'console', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_BSP_SCHEDULE_DELAY: 'soon' }
    expect(readTelemetrySettings(environment)).toEqual({ settings: undefined, warnings: [] })
  })

  it('are off without a message if the SDK is disabled (T2)', () => {
    const environment = { ...endpoint, OTEL_SDK_DISABLED: 'True', OTEL_BSP_SCHEDULE_DELAY: 'soon' }
    expect(readTelemetrySettings(environment)).toEqual({ settings: undefined, warnings: [] })
  })

  it('add the path of a signal to a common endpoint, and use an own one as it is (T1)', () => {
    const { traces, metrics, logs } = settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://[::1]:1/base/?a=b', OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'https://u:p@h/x' })
    expect([traces?.url, metrics?.url, logs?.url]).toEqual(['http://[::1]:1/base/v1/traces?a=b', 'http://[::1]:1/base/v1/metrics?a=b', 'https://u:p@h/x'])
  })

  it('have the defaults of the specification (T7, T10)', () => {
    const { traces, metrics, logs } = settingsOf(endpoint)
    const common = { headers: {}, timeoutMillis: 10_000, compression: 'none' }
    const batch = { exportTimeoutMillis: 30_000, maxQueueSize: 2048, maxExportBatchSize: 512 }
    expect(traces).toMatchObject({ ...common, sampler: 'parentbased_always_on', ratio: 1, continues: true, batch: { ...batch, scheduledDelayMillis: 5000 } })
    expect(metrics).toMatchObject({ ...common, intervalMillis: 60_000, exportTimeoutMillis: 30_000 })
    expect(logs).toMatchObject({ ...common, batch: { ...batch, scheduledDelayMillis: 1000 } })
  })

  it('replace the common header fields by those of a signal (T5)', () => {
    const { traces, logs } = settingsOf({ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'a=b%20c, d = %C3%BC', OTEL_EXPORTER_OTLP_LOGS_HEADERS: 'e=f=g' })
    expect(traces?.headers).toEqual({ a: 'b c', d: '\u00c3\u00bc' }) // its bytes in UTF-8
    expect(logs?.headers).toEqual({ e: 'f=g' })
  })

  it('limit what a timer or the memory cannot hold', () => {
    const { traces, metrics } = settingsOf({ ...endpoint, OTEL_BSP_SCHEDULE_DELAY: '99999999999', OTEL_BSP_MAX_QUEUE_SIZE: '99999999999', OTEL_METRIC_EXPORT_INTERVAL: '100' })
    expect(traces?.batch).toMatchObject({ scheduledDelayMillis: 2 ** 31 - 1, maxQueueSize: 2 ** 20 })
    expect(metrics).toMatchObject({ intervalMillis: 100, exportTimeoutMillis: 100 })
  })

  it.each([
    ['OTEL_TRACES_EXPORTER', 'console', 'traces are off'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'its signals are off'],
    ['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'http/json', 'metrics are off'],
    ['OTEL_TRACES_SAMPLER', 'sometimes', 'it is ignored'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.01', 'it is ignored'],
    ['OTEL_TRACES_SAMPLER_ARG', '-0.1', 'it is ignored'],
    ['OTEL_TRACES_SAMPLER_ARG', 'half', 'it is ignored'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=b,broken', 'it is ignored'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=b=c', 'it is ignored'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'a=%ff', 'it is ignored'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'brotli', 'exports are not compressed'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '1.5', 'the default 10000 applies'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '-1', 'the default 2048 applies'],
    ['OTEL_BLRP_SCHEDULE_DELAY', '0', 'the default 1000 applies'],
    ['OTEL_METRIC_EXPORT_INTERVAL', 'soon', 'the default 60000 applies'],
  ])('warn once about %s=%s (T4)', (variable, value, consequence) => {
    const { warnings } = readTelemetrySettings({ ...endpoint, [variable]: value })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(`${variable} is "${value}"; `)
    expect(warnings[0]).toContain(consequence)
  })

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'ftp://user:canary@h/'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http:///canary'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'canary:4318'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'x-key=%zzcanary'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'x-key=canary%0d%0aother: field'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'no key=canary'],
    ['OTEL_EXPORTER_OTLP_METRICS_HEADERS', 'canary'],
  ])('do not show the value of %s: %s (T4, T5)', (variable, value) => {
    const { warnings } = readTelemetrySettings({ ...endpoint, [variable]: value })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(new RegExp(`^${variable} `))
    expect(warnings[0]).not.toContain('canary')
  })

  it.each([['tracecontext', true], ['baggage, tracecontext', true], ['none', false], ['b3', false]])('continue traces with the propagators %s: %s (T8)', (list, continues) => {
    expect(settingsOf({ ...endpoint, OTEL_PROPAGATORS: list }).traces?.continues).toBe(continues)
  })
})
