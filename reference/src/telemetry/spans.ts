import {
  ROOT_CONTEXT, SpanKind, createContextKey, trace, type Attributes, type Context, type ContextManager, type SpanContext, type TextMapPropagator,
  type Tracer,
} from '@opentelemetry/api'
import { wellFormed } from '../wire/json/well-formed.ts'
import type { Instruments } from './instruments.ts'
import { asksStatus, fieldOf, requestAttributes } from './request-head.ts'
import type {
  AgentRun, AskedModel, CalledTool, ModelCallSpan, ModelOutcome, Place, RequestHead, RequestSpan, Telemetry,
} from './telemetry.ts'
import { Work, withWork, workIn } from './work.ts'

/** What the spans are made with. */
export interface SpanMakers {
  tracer: Tracer
  instruments: Instruments
  contexts: ContextManager
  /** Undefined if no trace is continued. */
  propagator: TextMapPropagator | undefined
}

const routeKey = createContextKey('route')
const sessionKey = createContextKey('session')
const replyKey = createContextKey('reply')
const answerKey = createContextKey('answer')

/** The route of a request, once it is chosen. */
interface RouteSlot {
  path?: string
}

/** How the last call of a model for an answer of a reply has failed. */
interface ReplySlot {
  errorType: string | undefined
}

/** Makes the spans of GA 36.3 and the points of GA 36.4. */
export class Spans implements Telemetry {
  readonly #tracer: Tracer
  readonly #instruments: Instruments
  readonly #contexts: ContextManager
  readonly #propagator: TextMapPropagator | undefined

  constructor({ tracer, instruments, contexts, propagator }: SpanMakers) {
    this.#tracer = tracer
    this.#instruments = instruments
    this.#contexts = contexts
    this.#propagator = propagator
  }

  /** The IDs of the span to which a line of the log belongs (T19). */
  ids(): SpanContext | undefined {
    return workIn(this.#contexts.active())?.ids
  }

  request(head: RequestHead): RequestSpan | undefined {
    if (asksStatus(head)) return undefined
    const { verb, attributes } = requestAttributes(head)
    const remote = this.#propagator?.extract(ROOT_CONTEXT, head, onlyTraceparent) ?? ROOT_CONTEXT
    const slot: RouteSlot = {}
    let said: Attributes = {}
    const { work, inside } = this.#begin(verb, SpanKind.SERVER, attributes, remote, (seconds) => {
      const { 'http.request.method': method, 'url.scheme': scheme } = attributes
      this.#instruments.requests.record(seconds, { 'http.request.method': method, 'url.scheme': scheme, ...said })
    })
    const context = inside.setValue(routeKey, slot)
    return {
      run: (request) => this.#contexts.with(context, request),
      end: (status) => {
        const { path } = slot
        if (path !== undefined) work.rename(`${verb} ${path}`)
        const errorType = status !== undefined && status >= 500 ? String(status) : undefined
        const answer = { ...(path !== undefined && { 'http.route': path }), ...(status !== undefined && { 'http.response.status_code': status }) }
        said = { ...answer, ...errorAttribute(errorType) }
        work.end(answer, errorType)
      },
    }
  }

  route(path: string): void {
    const slot = this.#contexts.active().getValue(routeKey) as RouteSlot | undefined // `request` has set it
    if (slot !== undefined) slot.path = path
  }

  async agent<T>({ session, provider, signal }: AgentRun, engine: () => Promise<T>): Promise<T> {
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'goose',
      ...(provider !== undefined && { 'gen_ai.provider.name': providerName(provider) }),
      'gen_ai.conversation.id': session,
    }
    const { work, inside } = this.#begin('invoke_agent goose', SpanKind.INTERNAL, attributes, this.#contexts.active())
    const slot: ReplySlot = { errorType: undefined }
    const ended = (otherwise: string | undefined): void => {
      work.end({}, slot.errorType ?? (signal.aborted ? 'cancelled' : otherwise))
    }
    return settled(this.#contexts.with(inside.setValue(sessionKey, session).setValue(replyKey, slot), engine), ended, () => undefined)
  }

  answer<T>(run: () => T): T {
    const context = this.#contexts.active()
    return this.#contexts.with(context.setValue(answerKey, context.getValue(replyKey)), run)
  }

  model({ provider, model, url }: AskedModel): ModelCallSpan {
    const context = this.#contexts.active()
    const session = context.getValue(sessionKey) as string | undefined // only this class sets it
    const slot = context.getValue(answerKey) as ReplySlot | undefined // only this class sets it
    const common: Attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': providerName(provider), 'gen_ai.request.model': wellFormed(model) }
    const attributes = { ...common, ...(session !== undefined && { 'gen_ai.conversation.id': session }), ...serverOf(url) }
    let said: Attributes = {}
    const { work, inside } = this.#begin(`chat ${wellFormed(model)}`, SpanKind.CLIENT, attributes, context, (seconds) => {
      this.#instruments.calls.record(seconds, { ...common, ...said })
    })
    return {
      run: (call) => this.#contexts.with(inside, call),
      end: (outcome) => {
        const { errorType } = outcome
        if (slot !== undefined) slot.errorType = errorType
        const named = outcome.model !== null && { 'gen_ai.response.model': wellFormed(outcome.model) }
        said = { ...named, ...errorAttribute(errorType) }
        this.#countTokens(outcome, { ...common, ...named })
        work.end({ ...named, ...answerAttributes(outcome) }, errorType)
      },
    }
  }

  tool<T>({ name, id, signal }: CalledTool, call: () => Promise<T>, errorOf: (result: T) => string | undefined): Promise<T> {
    const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': wellFormed(name), 'gen_ai.tool.call.id': wellFormed(id) }
    const { work } = this.#begin(`execute_tool ${wellFormed(name)}`, SpanKind.INTERNAL, attributes, this.#contexts.active())
    // The call runs in the context of the agent: what its tool asks a model is a child of that (T16).
    return settled(call(), (error) => { work.end({}, signal.aborted && error !== undefined ? 'cancelled' : error) }, errorOf)
  }

  apart<T>(session: string, run: () => T): T {
    return this.#contexts.with(ROOT_CONTEXT.setValue(sessionKey, session), run)
  }

  here(session: string): Place {
    const context = this.#contexts.active().setValue(sessionKey, session)
    return (run) => this.#contexts.with(context, run)
  }

  #begin(name: string, kind: SpanKind, attributes: Attributes, context: Context, onEnd?: (seconds: number) => void): { work: Work; inside: Context } {
    const span = this.#tracer.startSpan(name, { kind, attributes }, context)
    const work = new Work(span, workIn(context), onEnd)
    return { work, inside: withWork(trace.setSpan(context, span), work) }
  }

  #countTokens({ inputTokens, outputTokens }: ModelOutcome, attributes: Attributes): void {
    const { tokens } = this.#instruments
    if (inputTokens !== null) tokens.record(inputTokens, { ...attributes, 'gen_ai.token.type': 'input' })
    if (outputTokens !== null) tokens.record(outputTokens, { ...attributes, 'gen_ai.token.type': 'output' })
  }
}

/** Only this field is read: a `tracestate` would be exported with the span (T13). */
const onlyTraceparent = {
  get: (head: unknown, name: string) => (name === 'traceparent' ? fieldOf(head as RequestHead, name) : undefined), // it is given one
  keys: () => ['traceparent'],
}

/** Ends a span when its work is settled. Work that rejects has no word of its own. */
async function settled<T>(work: Promise<T>, end: (errorType: string | undefined) => void, errorOf: (result: T) => string | undefined): Promise<T> {
  let errorType: string | undefined = '_OTHER'
  try {
    const result = await work
    errorType = errorOf(result)
    return result
  } finally {
    end(errorType)
  }
}

function errorAttribute(errorType: string | undefined): Attributes {
  return errorType === undefined ? {} : { 'error.type': errorType }
}

function answerAttributes({ finishReason, inputTokens, outputTokens }: ModelOutcome): Attributes {
  return {
    ...(finishReason !== null && { 'gen_ai.response.finish_reasons': [wellFormed(finishReason)] }),
    ...(inputTokens !== null && { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(outputTokens !== null && { 'gen_ai.usage.output_tokens': outputTokens }),
  }
}

function serverOf({ hostname, port, protocol }: URL): Attributes {
  const byScheme = protocol === 'https:' ? 443 : 80
  return { 'server.address': hostname.replace(/^\[(.*)\]$/, '$1'), 'server.port': port === '' ? byScheme : Number(port) }
}

/** The names of the conventions for providers that goose calls otherwise (T16). */
const conventionalNames = new Map([
  ['azure_openai', 'azure.ai.openai'],
  ['aws_bedrock', 'aws.bedrock'],
  ['google', 'gcp.gemini'],
  ['gcp_vertex_ai', 'gcp.vertex_ai'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
])

function providerName(name: string): string {
  return conventionalNames.get(name) ?? wellFormed(name)
}
