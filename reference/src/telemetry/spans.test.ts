import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { AlwaysOffSampler, InMemorySpanExporter, SimpleSpanProcessor, TracerProvider, type ReadableSpan, type Sampler } from '@opentelemetry/sdk-trace'
import { describe, expect, it } from 'vitest'
import { instrumentsOf } from './instruments.ts'
import { Spans } from './spans.ts'
import type { ModelOutcome, RequestHead, RequestSpan } from './telemetry.ts'

interface Point {
  metric: string
  attributes: object
  sum: number | undefined
}

/** Spans, and what they export. */
class Exported {
  readonly spans: Spans
  readonly #exporter = new InMemorySpanExporter()
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  readonly #meters: MeterProvider

  constructor(sampler?: Sampler) {
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: this.#exporter })], ...(sampler && { sampler }) })
    this.#meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: this.#metrics })] })
    this.spans = new Spans({
      tracer: provider.getTracer('test'),
      instruments: instrumentsOf(this.#meters.getMeter('test')),
      contexts: new AsyncLocalStorageContextManager().enable(),
      propagator: new W3CTraceContextPropagator(),
    })
  }

  /** In the order in which they ended. */
  get ended(): ReadableSpan[] {
    return this.#exporter.getFinishedSpans()
  }

  request(headers: Record<string, string> = {}, method = 'POST'): RequestSpan {
    return this.spans.request(headOf(method, '/reply', headers)) ?? fail()
  }

  async points(): Promise<Point[]> {
    await this.#meters.forceFlush()
    const scopes = this.#metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics)
    return scopes.flatMap(({ metrics }) => metrics).flatMap(({ descriptor: { name }, dataPoints }) =>
      dataPoints.map(({ attributes, value }) => ({ metric: name, attributes, sum: typeof value === 'object' && 'sum' in value ? value.sum : undefined })),
    )
  }
}

function fail(): never {
  throw new Error('the request has no span')
}

function headOf(method: string, url: string, headers: Record<string, string>): RequestHead {
  return { method, url, rawHeaders: Object.entries(headers).flat() }
}

const running = { session: 's', provider: 'openai', signal: new AbortController().signal }
const asked = { provider: 'xai', model: 'grok', url: new URL('https://[::1]/v1') }
const answered: ModelOutcome = { model: null, finishReason: null, inputTokens: null, outputTokens: null, errorType: undefined }
const named = (exported: Exported): string[] => exported.ended.map(({ name }) => name)

describe('the spans', () => {
  it('of an agent, its calls and its tools are those of its request (T14 to T17)', async () => {
    const exported = new Exported()
    const { spans } = exported
    const request = exported.request()
    await request.run(async () => {
      spans.route('/reply')
      await spans.agent(running, async () => {
        spans.answer(() => spans.model(asked)).end({ ...answered, finishReason: 'stop', inputTokens: 3 })
        await spans.tool({ name: 't', id: 'call_1', signal: running.signal }, async () => { spans.model(asked).end(answered); return Promise.resolve('x') }, () => 'tool_error')
      })
    })
    request.end(200)
    const [chat, inTool, tool, agent, server] = exported.ended
    expect(named(exported)).toEqual(['chat grok', 'chat grok', 'execute_tool t', 'invoke_agent goose', 'POST /reply'])
    for (const span of [chat, inTool, tool]) expect(span?.parentSpanContext?.spanId).toBe(agent?.spanContext().spanId)
    expect(agent?.parentSpanContext?.spanId).toBe(server?.spanContext().spanId)
    expect(chat?.kind).toBe(SpanKind.CLIENT)
    expect(chat?.attributes).toEqual({
      'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'x_ai', 'gen_ai.request.model': 'grok', 'gen_ai.conversation.id': 's',
      'server.address': '::1', 'server.port': 443, 'gen_ai.response.finish_reasons': ['stop'], 'gen_ai.usage.input_tokens': 3,
    })
    expect(tool?.status).toEqual({ code: SpanStatusCode.ERROR })
    expect(tool?.attributes['error.type']).toBe('tool_error')
    expect(server?.attributes).toMatchObject({ 'http.route': '/reply', 'http.response.status_code': 200 })
    expect(server?.status).toEqual({ code: SpanStatusCode.UNSET })
  })

  it('of a request ends after that of its agent, although the client has left', async () => {
    const exported = new Exported()
    const left = new AbortController()
    let stop: (reason: Error) => void = fail
    const stopped = new Promise<void>((_, reject) => (stop = reject))
    const request = exported.request()
    const agent = request.run(() => exported.spans.agent({ ...running, signal: left.signal }, () => stopped))
    left.abort()
    request.end(200)
    expect(named(exported)).toEqual([])
    stop(new Error('the client has left'))
    await expect(agent).rejects.toThrow('the client has left')
    expect(named(exported)).toEqual(['invoke_agent goose', 'POST'])
    expect(exported.ended.map(({ attributes }) => attributes['error.type'])).toEqual(['cancelled', undefined])
  })

  it.each([
    ['429', '429', undefined],
    [undefined, undefined, undefined],
    [undefined, '_OTHER', new Error('broken')],
    ['429', '429', new Error('broken')],
  ])('of an agent whose last answer has failed with %s has the error %s (T15)', async (errorType, expected, failure) => {
    const exported = new Exported()
    const { spans } = exported
    const run = spans.agent(running, async () => {
      spans.answer(() => spans.model(asked)).end({ ...answered, errorType: '503' })
      spans.answer(() => spans.model(asked)).end({ ...answered, errorType })
      spans.model(asked).end({ ...answered, errorType: '400' }) // no answer: a compaction
      return failure === undefined ? Promise.resolve() : Promise.reject(failure)
    })
    await run.catch(() => undefined)
    expect(exported.ended.at(-1)?.attributes['error.type']).toBe(expected)
  })

  it('apart from a request begin a trace (T16)', () => {
    const exported = new Exported()
    const { spans } = exported
    const request = exported.request()
    request.run(() => { spans.apart('s', () => { spans.model(asked).end(answered) }) })
    request.end(undefined)
    const [chat, server] = exported.ended
    expect(chat?.parentSpanContext).toBeUndefined()
    expect(chat?.attributes['gen_ai.conversation.id']).toBe('s')
    expect(server?.attributes).not.toHaveProperty('http.response.status_code')
  })

  it('of a place are the children of what runs there', () => {
    const exported = new Exported()
    const { spans } = exported
    const [first, second] = [exported.request(), exported.request()]
    const place = first.run(() => spans.here('s'))
    second.run(() => { place(() => { spans.model(asked).end(answered) }) })
    first.end(200)
    expect(exported.ended[0]?.parentSpanContext?.spanId).toBe(exported.ended[1]?.spanContext().spanId)
  })

  it('have no tracestate, and no lone surrogates (T13)', async () => {
    const exported = new Exported()
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const request = exported.request({ traceparent, tracestate: 'secret=1' })
    await request.run(() => exported.spans.tool({ name: 'a\ud800', id: '\udc00', signal: running.signal }, () => Promise.resolve(), () => undefined))
    request.end(500)
    const [tool, server] = exported.ended
    expect(server?.spanContext().traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736')
    expect(server?.spanContext().traceState).toBeUndefined()
    expect(server?.attributes['error.type']).toBe('500')
    expect(tool?.name).toBe('execute_tool a\ufffd')
    expect(tool?.attributes['gen_ai.tool.call.id']).toBe('\ufffd')
  })

  it('give their IDs to the log until they end (T19)', () => {
    const exported = new Exported()
    const { spans } = exported
    const request = exported.request()
    expect(spans.ids()).toBeUndefined()
    const later = request.run(() => spans.here('s'))
    const { traceId } = later(() => spans.ids()) ?? fail()
    request.end(200)
    expect(later(() => spans.ids())).toBeUndefined()
    expect(exported.ended[0]?.spanContext().traceId).toBe(traceId)
  })
})

describe('the metrics', () => {
  it('count spans that are not sampled (T18)', async () => {
    const exported = new Exported(new AlwaysOffSampler())
    const request = exported.request({}, 'GET')
    request.run(() => {
      exported.spans.route('/sessions')
      exported.spans.model(asked).end({ ...answered, model: 'grok-2', outputTokens: 7, errorType: 'timeout' })
    })
    request.end(503)
    expect(exported.ended).toEqual([])
    const call = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'x_ai', 'gen_ai.request.model': 'grok', 'gen_ai.response.model': 'grok-2' }
    const points = await exported.points()
    expect(points.map(({ metric, attributes }) => ({ metric, attributes }))).toEqual([
      { metric: 'http.server.request.duration', attributes: { 'http.request.method': 'GET', 'url.scheme': 'http', 'http.route': '/sessions', 'http.response.status_code': 503, 'error.type': '503' } },
      { metric: 'gen_ai.client.operation.duration', attributes: { ...call, 'error.type': 'timeout' } },
      { metric: 'gen_ai.client.token.usage', attributes: { ...call, 'gen_ai.token.type': 'output' } },
    ])
    expect(points.at(-1)?.sum).toBe(7)
  })
})
