// One session of the published SDK: a query with a stream of prompts, or with one prompt.
import { query, type Query, type SDKMessage, type SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import { type Failure, failure } from './failure.js'
import { options, type Settings } from './options.js'

export interface Received { messages: SDKMessage[]; error?: Failure }

/** Values that are put in at one end and taken out at the other. */
class Queue<T> implements AsyncIterable<T> {
  readonly #values: T[] = []
  #ended = false
  #wake: () => void = () => undefined

  put(value: T): void { this.#values.push(value); this.#wake() }
  end(): void { this.#ended = true; this.#wake() }

  async take(): Promise<T | undefined> {
    while (this.#values.length === 0) {
      if (this.#ended) return undefined
      await new Promise<void>((resolve) => { this.#wake = resolve })
    }
    return this.#values.shift()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (let value = await this.take(); value !== undefined; value = await this.take()) yield value
  }
}

export class Session {
  readonly query: Query
  readonly #prompts = new Queue<SDKUserMessage>()
  readonly #messages = new Queue<SDKMessage>()
  readonly #read: Promise<void>
  readonly #settings: Settings
  #error: Failure | undefined
  #id: string | undefined
  #ended = false

  constructor(settings: Settings, prompt?: string) {
    this.#settings = settings
    this.query = query({ prompt: prompt ?? this.#prompts, options: options(settings) })
    this.#read = this.#readAll()
  }

  /** The messages are read all the time, so that what a program does not receive holds nothing up. */
  async #readAll(): Promise<void> {
    try {
      for await (const message of this.query) {
        if (message.type === 'system' && message.subtype === 'init') this.#id = message.session_id
        this.#messages.put(message)
      }
    } catch (error) {
      this.#error = failure(error)
    }
    this.#ended = true
    this.#messages.end()
  }

  /** The session of the next prompt. The published SDK continues one only with `resume`, in another process: so do programs that use it. */
  next(): Session {
    const { keepAlive = true, reconnectOnError = false } = this.#settings
    if (!this.#ended || (keepAlive && !reconnectOnError)) return this
    const settings = { ...this.#settings, ...(this.#id !== undefined && { resume: this.#id }) }
    delete settings.sessionId
    return new Session(settings)
  }

  send(prompt: string): void {
    this.#prompts.put({ type: 'user', message: { role: 'user', content: [{ type: 'text', text: prompt }] }, parent_tool_use_id: null, session_id: '' })
  }

  /** Receives messages up to one for which last is true, or up to the end of the session. */
  async receive(last: (message: SDKMessage) => boolean): Promise<Received> {
    const messages: SDKMessage[] = []
    for (let message = await this.#messages.take(); message; message = await this.#messages.take()) {
      messages.push(message)
      if (!last(message)) continue
      if (this.#settings.keepAlive === false) await this.close()
      return { messages }
    }
    return { messages, ...(this.#error && { error: this.#error }) }
  }

  async close(): Promise<void> {
    this.#prompts.end()
    this.query.close()
    await this.#read
  }
}
