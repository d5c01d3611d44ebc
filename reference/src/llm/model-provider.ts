import { parseJsonDocument } from '../wire/json/document.ts'
import type { JsonObject } from '../wire/json/shape.ts'
import { stringifyJson } from '../wire/json/stringify.ts'
import type { Logger } from '../log.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import type { ModelConfig } from '../domain/session/session.ts'
import { CallRecord } from './call-record.ts'
import { UnreadableAnswerError, postJson, type Endpoint, type HttpAnswer } from './http-call.ts'
import { ModelError, type Completion, type ModelRequest, type Piece, type Provider, type Turn, type WholeAnswer } from './model.ts'
import type { RequestLog, RequestLogs } from './request-log.ts'
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

/** A call that has its result, or the head of it. */
interface Asked<T> {
  log: RequestLog
  /** Undefined without telemetry. */
  record: CallRecord | undefined
  result: T
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
    const asked = await this.#ask(request, this.config.model_name, true, signal, async (post) => checked(await post()))
    return this.#stream(asked, signal)
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
    const { log, record, result } = await this.#ask(request, model, false, signal, async (post) => {
      const tried = await checked(await post(), (status, bytes) => wire.failureIn?.(status, bytes, model))
      if ('failure' in tried) return tried
      const bytes = await tried.result.bytes()
      const failure = wire.failureIn?.(tried.result.status, bytes, model)
      return failure === undefined ? { result: bytes } : { failure }
    })
    let answer: WholeAnswer | undefined
    try {
      answer = this.#whole(result)
      log.piece(answer)
      record?.piece(answer)
      record?.succeeded()
      return answer
    } catch (error) {
      log.failed(error)
      record?.failed(error)
      throw error
    } finally {
      log.close()
      record?.close(answer)
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
  ): Promise<Asked<T>> {
    const { wire, endpoint, backoff, logs, telemetry } = this.#options
    const body: JsonObject = await wire.body(request, this.config, model, stream, signal)
    const record = telemetry && new CallRecord(telemetry, { provider: this.name, model: wire.modelName(model), url: endpoint.url }, signal)
    const log = record === undefined ? logs.begin(this.config, body) : record.run(() => logs.begin(this.config, body))
    try {
      const text = stringifyJson(body)
      const post = (): Promise<HttpAnswer> => postJson(endpoint, text, signal)
      const result = await (record === undefined
        ? withRetries(() => attempt(post), backoff, signal)
        : record.run(() => withRetries(() => attempt(() => record.attempt(post)), backoff, signal)))
      return { log, record, result }
    } catch (error) {
      log.failed(error)
      log.close()
      record?.failed(error)
      record?.close()
      throw error
    }
  }

  /** A stream that fails ends like any other (M38); the reason is in the log. */
  async *#stream({ log, record, result: answer }: Asked<HttpAnswer>, signal: AbortSignal): AsyncGenerator<Piece> {
    const reader = this.#options.wire.stream()
    try {
      for await (const piece of piecesOf(answer.chunks(), reader)) {
        log.piece(piece)
        record?.piece(piece)
        yield piece
      }
      record?.succeeded()
    } catch (err) {
      log.failed(err)
      record?.failed(err)
      signal.throwIfAborted()
      this.#options.logger.warn('model stream ended badly', { provider: this.name, model: this.config.model_name, err })
    } finally {
      answer.close()
      log.close()
      record?.close(reader)
    }
  }
}

/** A stream with one piece. */
// eslint-disable-next-line @typescript-eslint/require-await -- there is nothing to wait for
export async function* only(piece: Piece): AsyncGenerator<Piece> {
  yield piece
}
