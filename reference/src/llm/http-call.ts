import type { IncomingMessage } from 'node:http'
import { sendRequest } from '../send-request.ts'
import { ModelError } from './model.ts'

/** The endpoint of a model. */
export interface Endpoint {
  url: URL
  headers: Readonly<Record<string, string>>
  /** How long an answer may take, up to its last byte. */
  timeoutSeconds: number
}

/** The most bytes that are read of an answer (M38). */
export const maxAnswerBytes = 64 * 1024 * 1024
/** The longest delay of a Node timer. */
const longestTimerMs = 2 ** 31 - 1

/** An answer whose head has arrived. It must be read to its end, or closed. */
export class HttpAnswer {
  readonly status: number
  /** The coding of the body, which its readers must undo. */
  readonly encoding: string | undefined
  readonly #message: IncomingMessage
  readonly #deadline: Deadline

  constructor(message: IncomingMessage, deadline: Deadline) {
    this.status = message.statusCode ?? 0
    this.encoding = message.headers['content-encoding']
    this.#message = message
    this.#deadline = deadline
  }

  /** Reads the body as it arrives. Throws a ModelError if the connection is lost, or the time is over. */
  async *chunks(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.#message) yield chunk as Buffer // no encoding is set, so chunks are bytes
      if (!this.#message.complete) throw new Error('the connection ended within the answer')
    } catch (cause) {
      throw this.#deadline.explain(cause, new BrokenAnswerError({ cause }))
    } finally {
      this.close()
    }
  }

  /** The whole body, of at most this many bytes. Throws a ModelError. */
  async bytes(most = maxAnswerBytes): Promise<Buffer> {
    const bytes = await this.start(most + 1)
    if (bytes.length > most) throw new UnreadableAnswerError()
    return bytes
  }

  /** The first bytes of the body, at most `most`. Throws a ModelError. */
  async start(most: number): Promise<Buffer> {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of this.chunks()) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= most) break
    }
    return Buffer.concat(chunks, Math.min(size, most))
  }

  /** Closes the connection. */
  close(): void {
    this.#deadline.stop()
    this.#message.destroy()
  }
}

/** The answer is not in the format of a model's server. */
export class UnreadableAnswerError extends ModelError {
  constructor(options?: ErrorOptions) {
    super('Request failed: The answer of the model cannot be read', false, options)
  }
}

/** The connection was lost within the answer. */
export class BrokenAnswerError extends UnreadableAnswerError {}

/** There is no connection to the model. */
export class NoConnectionError extends ModelError {}

/** No answer has come in time. */
export class NoAnswerInTimeError extends ModelError {}

/**
 * Sends JSON, and resolves with the head of the answer, whatever its status. Rejects with a ModelError if there is no answer, or
 * with the reason of the signal.
 */
export function postJson(endpoint: Endpoint, body: string, signal: AbortSignal): Promise<HttpAnswer> {
  const headers = { 'Content-Type': 'application/json', ...endpoint.headers }
  return send({ ...endpoint, headers }, { method: 'POST', body }, signal)
}

/** Asks without a body. Resolves and rejects like postJson. */
export function get(endpoint: Endpoint, signal: AbortSignal): Promise<HttpAnswer> {
  return send(endpoint, { method: 'GET', body: null }, signal)
}

async function send(
  { url, headers, timeoutSeconds }: Endpoint,
  { method, body }: { method: string; body: string | null },
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const deadline = new Deadline(timeoutSeconds, signal)
  try {
    return new HttpAnswer(await sendRequest(url, { method, headers, body, signal: deadline.signal }), deadline)
  } catch (error) {
    deadline.stop()
    throw deadline.explain(error, new NoConnectionError('Request failed: No connection to the model', false, { cause: error }))
  }
}

/** Ends a call when its time is over, or it is aborted. */
class Deadline {
  readonly signal: AbortSignal
  readonly #outer: AbortSignal
  readonly #over = new AbortController()
  readonly #seconds: number
  readonly #timer: NodeJS.Timeout

  constructor(seconds: number, outer: AbortSignal) {
    this.#seconds = seconds
    this.#outer = outer
    this.signal = AbortSignal.any([outer, this.#over.signal])
    this.#timer = setTimeout(() => {
      this.#over.abort()
    }, Math.min(seconds * 1000, longestTimerMs))
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** Why a call ended: the reason of the signal, the time limit, or `otherwise`. */
  explain(error: unknown, otherwise: ModelError): unknown {
    if (this.#outer.aborted) return this.#outer.reason
    if (this.#over.signal.aborted) {
      return new NoAnswerInTimeError(`Request failed: No answer of the model within ${this.#seconds} s`, false, { cause: error })
    }
    return otherwise
  }
}
