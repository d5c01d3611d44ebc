import type { Environment } from '../settings/paths.ts'
import { readAttributes, readHeaders } from './pairs.ts'

/** What is exported: spans, points of metrics, and records of logs. */
export type Signal = 'traces' | 'metrics' | 'logs'

/** Where and how a signal is exported. */
export interface ExportSettings {
  url: string
  headers: Record<string, string>
  timeoutMillis: number
  compression: 'gzip' | 'none'
}

/** The limits of a batch of spans or records. Times are in milliseconds. */
export interface BatchSettings {
  scheduledDelayMillis: number
  exportTimeoutMillis: number
  maxQueueSize: number
  maxExportBatchSize: number
}

export const samplers = [
  'always_on', 'always_off', 'traceidratio', 'parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio',
] as const

/** What the environment says of telemetry (GA 36.1, 36.2). A signal that is missing is off; at least one is on. */
export interface TelemetrySettings {
  traces?: ExportSettings & { batch: BatchSettings; sampler: (typeof samplers)[number]; ratio: number; continues: boolean }
  metrics?: ExportSettings & { intervalMillis: number; exportTimeoutMillis: number }
  logs?: ExportSettings & { batch: BatchSettings }
  serviceName: string | undefined
  attributes: Record<string, string>
}

/** Reads the settings. They are undefined if everything is off. Each variable has at most one warning (T4). */
export function readTelemetrySettings(environment: Environment): { settings: TelemetrySettings | undefined; warnings: string[] } {
  const given = new Variables(environment)
  if (given.text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return { settings: undefined, warnings: [] }
  const traces = exportOf('traces', given)
  const metrics = exportOf('metrics', given)
  const logs = exportOf('logs', given)
  if (traces === undefined && metrics === undefined && logs === undefined) return { settings: undefined, warnings: given.warnings }
  const settings: TelemetrySettings = {
    ...(traces && { traces: { ...traces, ...samplingOf(given), batch: batchOf('BSP', 5000, given), continues: continuesTraces(given) } }),
    ...(metrics && { metrics: { ...metrics, ...intervalOf(given) } }),
    ...(logs && { logs: { ...logs, batch: batchOf('BLRP', 1000, given) } }),
    serviceName: given.text('OTEL_SERVICE_NAME'),
    attributes: attributesOf(given),
  }
  return { settings, warnings: given.warnings }
}

/** Undefined if the signal is off. The variables of a signal that is off are not read any further. */
function exportOf(signal: Signal, given: Variables): ExportSettings | undefined {
  const own = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}`
  const endpoint = given.text(`${own}_ENDPOINT`)
  const common = given.text('OTEL_EXPORTER_OTLP_ENDPOINT')
  if ((endpoint ?? common) === undefined) return undefined
  const exporter = `OTEL_${signal.toUpperCase()}_EXPORTER`
  if (given.choice(exporter, ['otlp', 'none'], 'otlp', `${signal} are off`, 'none') === 'none') return undefined
  const protocol = given.first(`${own}_PROTOCOL`, 'OTEL_EXPORTER_OTLP_PROTOCOL')
  const isOff = protocol.startsWith(own) ? `${signal} are off` : 'its signals are off'
  if (given.choice(protocol, ['http/protobuf', ''], 'http/protobuf', isOff, '') === '') return undefined
  const url = endpoint === undefined ? commonUrl(signal, given) : urlOf(endpoint)
  if (url === undefined) {
    const what = endpoint === undefined ? 'the signals that it is for' : signal
    given.warnSecretly(endpoint === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : `${own}_ENDPOINT`, `is no http or https URL with a host; ${what} are off`)
    return undefined
  }
  const timeout = given.first(`${own}_TIMEOUT`, 'OTEL_EXPORTER_OTLP_TIMEOUT')
  const compression = given.first(`${own}_COMPRESSION`, 'OTEL_EXPORTER_OTLP_COMPRESSION')
  return {
    url,
    headers: headersOf(given.first(`${own}_HEADERS`, 'OTEL_EXPORTER_OTLP_HEADERS'), given),
    timeoutMillis: given.count(timeout, 10_000, maxMillis),
    compression: given.choice(compression, ['gzip', 'none'], 'none', 'exports are not compressed', 'none'),
  }
}

/** The path of the signal is added to that of the URL (EXP, "Endpoint URLs for OTLP/HTTP"). */
function commonUrl(signal: Signal, given: Variables): string | undefined {
  const base = urlOf(given.text('OTEL_EXPORTER_OTLP_ENDPOINT') ?? '')
  if (base === undefined) return undefined
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/${signal}`
  return url.href
}

function urlOf(text: string): string | undefined {
  // URL itself takes `http:///host` for `http://host`.
  return /^https?:\/\/[^/?#\\]/i.test(text) && URL.canParse(text) ? new URL(text).href : undefined
}

function headersOf(variable: string, given: Variables): Record<string, string> {
  const { pairs, unreadable } = readHeaders(given.text(variable) ?? '')
  if (unreadable > 0) given.warnSecretly(variable, `has ${unreadable} entries that are no pairs name=value; they are left out`)
  return pairs
}

function attributesOf(given: Variables): Record<string, string> {
  const variable = 'OTEL_RESOURCE_ATTRIBUTES'
  const attributes = readAttributes(given.text(variable) ?? '')
  if (attributes === undefined) given.warn(variable, 'it must be name=value pairs, separated by commas; it is ignored')
  return attributes ?? {}
}

/** An unknown sampler, or a ratio that is none, is ignored (T7). */
function samplingOf(given: Variables): { sampler: (typeof samplers)[number]; ratio: number } {
  const sampler = given.choice('OTEL_TRACES_SAMPLER', samplers, 'parentbased_always_on', 'it is ignored')
  const variable = 'OTEL_TRACES_SAMPLER_ARG'
  const text = given.text(variable) ?? '1'
  const ratio = /^\d*\.?\d+(?:e[+-]?\d+)?$|^\d+\.$/i.test(text) ? Number(text) : NaN
  if (ratio >= 0 && ratio <= 1) return { sampler, ratio }
  given.warn(variable, 'it must be a ratio from 0 to 1; it is ignored')
  return { sampler, ratio: 1 }
}

/** Whether `traceparent` counts (T8). */
function continuesTraces(given: Variables): boolean {
  const list = given.text('OTEL_PROPAGATORS')
  return list === undefined || list.split(',').some((name) => name.trim().toLowerCase() === 'tracecontext')
}

function batchOf(prefix: 'BSP' | 'BLRP', delay: number, given: Variables): BatchSettings {
  return {
    scheduledDelayMillis: given.count(`OTEL_${prefix}_SCHEDULE_DELAY`, delay, maxMillis),
    exportTimeoutMillis: given.count(`OTEL_${prefix}_EXPORT_TIMEOUT`, 30_000, maxMillis),
    maxQueueSize: given.count(`OTEL_${prefix}_MAX_QUEUE_SIZE`, 2048, maxItems),
    maxExportBatchSize: given.count(`OTEL_${prefix}_MAX_EXPORT_BATCH_SIZE`, 512, maxItems),
  }
}

/** An export of metrics ends before the next one begins: the SDK accepts no longer timeout. */
function intervalOf(given: Variables): { intervalMillis: number; exportTimeoutMillis: number } {
  const intervalMillis = given.count('OTEL_METRIC_EXPORT_INTERVAL', 60_000, maxMillis)
  return { intervalMillis, exportTimeoutMillis: Math.min(intervalMillis, given.count('OTEL_METRIC_EXPORT_TIMEOUT', 30_000, maxMillis)) }
}

/** The longest time of a Node timer, and a bound for the memory of a queue. */
const maxMillis = 2 ** 31 - 1
const maxItems = 2 ** 20

/** The variables, and what is wrong with those that were read. An empty variable is unset (ENV, "Parsing empty value"). */
class Variables {
  readonly #environment: Environment
  readonly #wrong = new Map<string, string>()

  constructor(environment: Environment) {
    this.#environment = environment
  }

  get warnings(): string[] {
    return [...this.#wrong].map(([variable, what]) => `${variable} ${what}`)
  }

  text(variable: string): string | undefined {
    return this.#environment[variable] || undefined
  }

  /** The first variable if it is set, else the second one. */
  first(variable: string, otherwise: string): string {
    return this.text(variable) === undefined ? otherwise : variable
  }

  warn(variable: string, what: string): void {
    this.#wrong.set(variable, `is ${JSON.stringify(this.text(variable))}; ${what}`)
  }

  /** A warning without the value. */
  warnSecretly(variable: string, what: string): void {
    this.#wrong.set(variable, what)
  }

  /** One of these words, in any case. Any other counts as `instead`, with a warning. */
  choice<Word extends string>(variable: string, words: readonly Word[], otherwise: Word, consequence: string, instead = otherwise): Word {
    const text = this.text(variable)
    if (text === undefined) return otherwise
    const word = words.find((one) => one !== '' && one === text.trim().toLowerCase())
    if (word === undefined) this.warn(variable, `it must be ${words.filter((one) => one !== '').join(' or ')}; ${consequence}`)
    return word ?? instead
  }

  /** A positive whole number; more than `most` counts as that. */
  count(variable: string, otherwise: number, most: number): number {
    const text = this.text(variable)
    if (text === undefined) return otherwise
    if (/^\d+$/.test(text) && Number(text) > 0) return Math.min(Number(text), most)
    this.warn(variable, `it must be a whole number, at least 1; the default ${otherwise} applies`)
    return otherwise
  }
}
