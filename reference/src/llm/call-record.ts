import type { AskedModel, ModelCallSpan, Telemetry } from '../telemetry/telemetry.ts'
import { BrokenAnswerError, NoAnswerInTimeError, NoConnectionError, type HttpAnswer } from './http-call.ts'
import { CutStreamError } from './model-protocol.ts'
import type { AnswerFacts, Piece } from './model.ts'

/** Collects what the span of a model call records, over all its attempts (T16). */
export class CallRecord {
  readonly #span: ModelCallSpan
  readonly #signal: AbortSignal
  #input: number | null = null
  #output: number | null = null
  /** The status of the last attempt; undefined while it has no answer. */
  #status: number | undefined
  /** Undefined after a success. A call whose answer is not read to its end counts as cancelled. */
  #errorType: string | undefined = 'cancelled'

  constructor(telemetry: Telemetry, asked: AskedModel, signal: AbortSignal) {
    this.#span = telemetry.model(asked)
    this.#signal = signal
  }

  /** Runs a part of the call. What is logged meanwhile belongs to the call. */
  run<T>(part: () => T): T {
    return this.#span.run(part)
  }

  /** Makes one attempt. */
  async attempt(post: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
    this.#status = undefined
    const answer = await post()
    this.#status = answer.status
    return answer
  }

  piece({ usage }: Piece): void {
    this.#input = usage?.input ?? this.#input
    this.#output = usage?.output ?? this.#output
  }

  /** The whole answer has been read. */
  succeeded(): void {
    this.#errorType = undefined
  }

  failed(error: unknown): void {
    this.#errorType = this.#signal.aborted ? wordOfAbort(this.#signal.reason) : wordOf(error, this.#status)
  }

  /** Called once. */
  close(facts?: AnswerFacts): void {
    const { model = null, finishReason = null } = facts ?? {}
    this.#span.end({ model, finishReason, inputTokens: this.#input, outputTokens: this.#output, errorType: this.#errorType })
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
