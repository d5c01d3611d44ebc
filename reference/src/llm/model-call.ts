import type { ModelCallSpan, Telemetry } from '../telemetry/telemetry.ts'
import { BrokenAnswerError, NoAnswerInTimeError, NoConnectionError, type HttpAnswer } from './http-call.ts'
import { CutStreamError } from './model-protocol.ts'
import type { AnswerFacts, Piece } from './model.ts'
import type { RequestLog } from './request-log.ts'

interface ModelCallOptions {
  provider: string
  /** The name of the model in the request. */
  model: string
  url: URL
  signal: AbortSignal
  telemetry: Telemetry | undefined
}

/** One call of a model, with all its attempts: its log (M40) and its span (T16). It is closed once. */
export class ModelCall {
  readonly #log: RequestLog
  readonly #signal: AbortSignal
  readonly #span: ModelCallSpan | undefined
  /** What the model says of its answer, as soon as it does. */
  facts: AnswerFacts = { model: null, finishReason: null }
  #usage: { input: number | null; output: number | null } = { input: null, output: null }
  /** The status of the last attempt; undefined while it has no answer. */
  #status: number | undefined
  /** Undefined after a success. A call that nobody reads to its end was given up. */
  #errorType: string | undefined = 'cancelled'

  constructor({ provider, model, url, signal, telemetry }: ModelCallOptions, beginLog: () => RequestLog) {
    this.#signal = signal
    this.#span = telemetry?.model({ provider, model, url })
    this.#log = this.run(beginLog)
  }

  /** Runs a part of the call. What is logged meanwhile belongs to the call. */
  run<T>(part: () => T): T {
    return this.#span === undefined ? part() : this.#span.run(part)
  }

  /** Makes one attempt. */
  async attempt(post: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
    this.#status = undefined
    const answer = await post()
    this.#status = answer.status
    return answer
  }

  piece(piece: Piece): void {
    this.#log.piece(piece)
    const { input = null, output = null } = piece.usage ?? {}
    this.#usage = { input: input ?? this.#usage.input, output: output ?? this.#usage.output }
  }

  /** The whole answer has been read. */
  succeeded(): void {
    this.#errorType = undefined
  }

  failed(error: unknown): void {
    this.#log.failed(error)
    this.#errorType = this.#signal.aborted ? wordOfAbort(this.#signal.reason) : wordOf(error, this.#status)
  }

  close(): void {
    this.#log.close()
    this.#span?.end({ ...this.facts, inputTokens: this.#usage.input, outputTokens: this.#usage.output, errorType: this.#errorType })
  }
}

/** A call may have a time limit of its own. */
function wordOfAbort(reason: unknown): string {
  return reason instanceof Error && reason.name === 'TimeoutError' ? 'timeout' : 'cancelled'
}

/** The word of T16 for a failed call. */
function wordOf(error: unknown, status: number | undefined): string {
  if (status !== undefined && (status < 200 || status > 299)) return String(status)
  if (error instanceof NoAnswerInTimeError) return 'timeout'
  const isLost = error instanceof NoConnectionError || error instanceof BrokenAnswerError || error instanceof CutStreamError
  return isLost ? 'connection_error' : 'invalid_response'
}
