import { ROOT_CONTEXT, createNoopMeter, trace } from '@opentelemetry/api'
import { SeverityNumber, type Logger as RecordLogger } from '@opentelemetry/api-logs'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, resourceFromAttributes, type Resource } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler, AlwaysOnSampler, BatchSpanProcessor, ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider, type Sampler,
} from '@opentelemetry/sdk-trace'
import type { Level, Logger } from '../log.ts'
import { version } from '../version.ts'
import { within } from '../within.ts'
import { instrumentsOf } from './instruments.ts'
import { reportFailures } from './reporting-exporter.ts'
import type { ExportSettings, TelemetrySettings } from './settings.ts'
import { Spans } from './spans.ts'
import type { Telemetry } from './telemetry.ts'

/** What exports one signal. */
interface Provider {
  shutdown: () => Promise<void>
}

const scope = 'agentd'

/** The libraries of OpenTelemetry, as the settings want them. */
export class Sdk {
  readonly telemetry: Telemetry
  readonly #spans: Spans
  readonly #records: RecordLogger | undefined
  readonly #providers: Provider[]

  /** Failed exports are logged with `logger`, whose lines are not exported. */
  constructor(settings: TelemetrySettings, logger: Logger) {
    const resource = resourceOf(settings)
    const traces = tracerProvider(settings, resource, logger)
    const metrics = meterProvider(settings, resource, logger)
    const logs = loggerProvider(settings, resource, logger)
    this.#spans = new Spans({
      tracer: (traces ?? trace).getTracer(scope, version),
      instruments: instrumentsOf(metrics?.getMeter(scope, version) ?? createNoopMeter()),
      contexts: new AsyncLocalStorageContextManager().enable(),
      propagator: settings.traces?.continues === true ? new W3CTraceContextPropagator() : undefined,
    })
    this.telemetry = this.#spans
    this.#records = logs?.getLogger(scope, version)
    this.#providers = [traces, metrics, logs].filter((provider) => provider !== undefined)
  }

  /** The members of a line of the log that belongs to a span (T20). */
  lineIds(): { trace_id: string; span_id: string } | undefined {
    const ids = this.#spans.ids()
    return ids && { trace_id: ids.traceId, span_id: ids.spanId }
  }

  /** A logger whose lines are exported too, without their fields (T19). */
  exporting(logger: Logger): Logger {
    const records = this.#records
    if (records === undefined) return logger
    const at =
      (level: Level): Logger[Level] =>
      (message, fields) => {
        logger[level](message, fields)
        const ids = this.#spans.ids()
        const context = ids === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, ids)
        records.emit({ severityNumber: severities[level], severityText: level.toUpperCase(), body: message, context })
      }
    return { info: at('info'), warn: at('warn'), error: at('error') }
  }

  /** Exports what has ended, within this time (T12). */
  async shutdown(ms: number): Promise<void> {
    await within(ms, Promise.allSettled(this.#providers.map((provider) => provider.shutdown())))
  }
}

const severities = { info: SeverityNumber.INFO, warn: SeverityNumber.WARN, error: SeverityNumber.ERROR }

/** One resource for all signals (T6). What the SDK says of itself comes last: nothing replaces it. */
function resourceOf({ serviceName, attributes }: TelemetrySettings): Resource {
  const own = { 'service.name': scope, 'service.version': version, ...attributes, ...(serviceName !== undefined && { 'service.name': serviceName }) }
  const ofSdk = Object.entries(defaultResource().attributes).filter(([name]) => name.startsWith('telemetry.sdk.'))
  return resourceFromAttributes({ ...own, ...Object.fromEntries(ofSdk) })
}

function tracerProvider({ traces }: TelemetrySettings, resource: Resource, logger: Logger): TracerProvider | undefined {
  if (traces === undefined) return undefined
  const exporter = new OTLPTraceExporter(optionsOf(traces))
  reportFailures(exporter, 'traces', traces, logger)
  return new TracerProvider({ resource, sampler: samplerOf(traces), spanProcessors: [new BatchSpanProcessor({ exporter, ...traces.batch })] })
}

function samplerOf({ sampler, ratio }: NonNullable<TelemetrySettings['traces']>): Sampler {
  switch (sampler) {
    case 'always_on':
      return new AlwaysOnSampler()
    case 'always_off':
      return new AlwaysOffSampler()
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio)
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() })
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() })
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) })
    default:
      return sampler satisfies never
  }
}

function meterProvider({ metrics }: TelemetrySettings, resource: Resource, logger: Logger): MeterProvider | undefined {
  if (metrics === undefined) return undefined
  const exporter = new OTLPMetricExporter(optionsOf(metrics))
  reportFailures(exporter, 'metrics', metrics, logger)
  exporter.selectAggregationTemporality = () => AggregationTemporality.CUMULATIVE
  const { intervalMillis: exportIntervalMillis, exportTimeoutMillis } = metrics
  return new MeterProvider({ resource, readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis, exportTimeoutMillis })] })
}

function loggerProvider({ logs }: TelemetrySettings, resource: Resource, logger: Logger): LoggerProvider | undefined {
  if (logs === undefined) return undefined
  const exporter = new OTLPLogExporter(optionsOf(logs))
  reportFailures(exporter, 'logs', logs, logger)
  return new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor({ exporter, ...logs.batch })] })
}

/** The options of the exporters of all signals. Their type for the compression is an enum that no package exports. */
function optionsOf({ url, headers, timeoutMillis, compression }: ExportSettings): object {
  return { url, headers, timeoutMillis, compression }
}
