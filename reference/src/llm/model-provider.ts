import { parseJsonDocument } from '../wire/json/document.ts'
import type { JsonObject } from '../wire/json/shape.ts'
import { stringifyJson } from '../wire/json/stringify.ts'
import type { Logger } from '../log.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { ModelConfig } from '../domain/session/session.ts'
import { UnreadableAnswerError, postJson, type Endpoint, type HttpAnswer } from './http-call.ts'
import { ModelError, type Completion, type ModelRequest, type Piece, type Provider, type Turn, type WholeAnswer } from './model.ts'
import { ModelCall } from './model-call.ts'
import type { RequestLogs } from './request-log.ts'
import { checked, withRetries } from './retry.ts'
import { piecesOf } from './stream-lines.ts'
import type { ModelProtocol } from './model-protocol.ts'

interface ProviderOptions {
  name: string
  config: ModelConfig
  wire: ModelProtocol
  endpoint: Endpoint
  /** Whether its server can send an answer in pieces. */
  streams: boolean
  /** Whether to wait between two attempts. */
  backoff: boolean
  logs: RequestLogs
  logger: Logger
  telemetry: Telemetry | undefined
}

/** Asks a model over HTTP. */
export class ModelProvider implements Provider {
  readonly name: string
  readonly config: ModelConfig
  readonly #options: ProviderOptions

  constructor(options: ProviderOptions) {
    this.name = options.name
    this.config = options.config
    this.#options = options
  }

  /** The name of its model in requests. */
  get wireModel(): string {
    return this.#options.wire.modelName(this.config.model_name)
  }

  /** A turn of its only model. */
  beginTurn(): Turn {
    return { config: this.config, answer: (request, signal) => this.#answer(request, signal) }
  }

  async #answer(request: ModelRequest, signal: AbortSignal): Promise<AsyncIterable<Piece>> {
    if (!this.#options.streams) return only(await this.complete(request, signal))
    const { call, result } = await this.#ask(request, this.config.model_name, true, signal, async (post) => checked(await post()))
    return this.#stream(result, call, signal)
  }

  async complete(request: ModelRequest, signal: AbortSignal): Promise<Completion> {
    return { ...(await this.#complete(request, this.config.model_name, signal)), config: this.config }
  }

  async completeFast(request: ModelRequest, signal: AbortSignal): Promise<Piece> {
    const { fast_model: fast } = this.config
    if (fast === null) return this.complete(request, signal)
    try {
      return await this.#complete(request, fast, signal)
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      return this.complete(request, signal)
    }
  }

  async #complete(request: ModelRequest, model: string, signal: AbortSignal): Promise<WholeAnswer> {
    const { wire } = this.#options
    const { call, result } = await this.#ask(request, model, false, signal, async (post) => {
      const tried = await checked(await post(), (status, bytes) => wire.failureIn?.(status, bytes, model))
      if ('failure' in tried) return tried
      const bytes = await tried.result.bytes()
      const failure = wire.failureIn?.(tried.result.status, bytes, model)
      return failure === undefined ? { result: bytes } : { failure }
    })
    try {
      const answer = this.#whole(result)
      call.facts = answer
      call.piece(answer)
      call.succeeded()
      return answer
    } catch (error) {
      call.failed(error)
      throw error
    } finally {
      call.close()
    }
  }

  #whole(bytes: Uint8Array): WholeAnswer {
    try {
      return this.#options.wire.whole(parseJsonDocument(bytes).value)
    } catch (cause) {
      throw new UnreadableAnswerError({ cause })
    }
  }

  /** Asks, and retries temporary failures. They are one call (M40). */
  async #ask<T>(
    request: ModelRequest,
    model: string,
    stream: boolean,
    signal: AbortSignal,
    attempt: (post: () => Promise<HttpAnswer>) => ReturnType<Parameters<typeof withRetries<T>>[0]>,
  ): Promise<{ call: ModelCall; result: T }> {
    const { wire, endpoint, backoff, logs, telemetry } = this.#options
    const body: JsonObject = await wire.body(request, this.config, model, stream, signal)
    const asked = { provider: this.name, model: wire.modelName(model), url: endpoint.url, signal, telemetry }
    const call = new ModelCall(asked, () => logs.begin(this.config, body))
    try {
      const text = stringifyJson(body)
      const post = (): Promise<HttpAnswer> => call.attempt(() => postJson(endpoint, text, signal))
      return { call, result: await call.run(() => withRetries(() => attempt(post), backoff, signal)) }
    } catch (error) {
      call.failed(error)
      call.close()
      throw error
    }
  }

  /** A stream that fails ends like any other (M38); the reason is in the log. */
  async *#stream(answer: HttpAnswer, call: ModelCall, signal: AbortSignal): AsyncGenerator<Piece> {
    const reader = this.#options.wire.stream()
    call.facts = reader.facts
    try {
      for await (const piece of piecesOf(answer.chunks(), reader)) {
        call.piece(piece)
        yield piece
      }
      call.succeeded()
    } catch (err) {
      call.failed(err)
      signal.throwIfAborted()
      this.#options.logger.warn('model stream ended badly', { provider: this.name, model: this.config.model_name, err })
    } finally {
      answer.close()
      call.close()
    }
  }
}

/** A stream with one piece. */
// eslint-disable-next-line @typescript-eslint/require-await -- there is nothing to wait for
export async function* only(piece: Piece): AsyncGenerator<Piece> {
  yield piece
}
