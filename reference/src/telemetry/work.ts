import { SpanStatusCode, createContextKey, isSpanContextValid, type Attributes, type Context, type Span, type SpanContext } from '@opentelemetry/api'

const workKey = createContextKey('work')

/** Something with a span. The span ends after those of its parts: a part may outlast the connection of its request (T14, T15). */
export class Work {
  readonly #span: Span
  readonly #parent: Work | undefined
  readonly #since = performance.now()
  readonly #onEnd: (seconds: number) => void
  /** Itself, and the parts that have not ended. */
  #open = 1

  /** Calls `onEnd` at the end of the span, whether it is sampled or not. */
  constructor(span: Span, parent: Work | undefined, onEnd: (seconds: number) => void = () => undefined) {
    this.#span = span
    this.#parent = parent
    this.#onEnd = onEnd
    if (parent !== undefined) parent.#open++
  }

  /** The IDs of the span; undefined if it has ended, or traces are off. */
  get ids(): SpanContext | undefined {
    const ids = this.#span.spanContext()
    return this.#open > 0 && isSpanContextValid(ids) ? ids : undefined
  }

  rename(name: string): void {
    this.#span.updateName(name)
  }

  /** The work is done. Called once. */
  end(attributes: Attributes, errorType?: string): void {
    this.#span.setAttributes(attributes)
    if (errorType !== undefined) this.#span.setAttribute('error.type', errorType).setStatus({ code: SpanStatusCode.ERROR })
    this.#ended()
  }

  #ended(): void {
    this.#open--
    if (this.#open > 0) return
    this.#span.end()
    this.#onEnd((performance.now() - this.#since) / 1000)
    if (this.#parent !== undefined) this.#parent.#ended()
  }
}

/** The innermost work of a context. */
export function workIn(context: Context): Work | undefined {
  return context.getValue(workKey) as Work | undefined // only this file sets it
}

export function withWork(context: Context, work: Work): Context {
  return context.setValue(workKey, work)
}
