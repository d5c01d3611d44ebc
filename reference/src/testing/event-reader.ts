/** The headers of every event stream, in the order in which a Headers object lists them. */
export const streamHeaders = [
  ['access-control-allow-origin', '*'],
  ['cache-control', 'no-cache'],
  ['connection', 'keep-alive'],
  ['content-type', 'text/event-stream'],
]

/** Reads the body of an event stream, block by block. It is strict: only a blank line ends a block. */
export class EventReader {
  readonly response: Response
  readonly #reader: ReadableStreamDefaultReader<string>
  #buffer = ''

  constructor(response: Response) {
    if (response.body === null) throw new Error(`status ${response.status} without a body`)
    this.response = response
    this.#reader = (response.body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream('utf-8', { fatal: true }))
      .getReader()
  }

  /** The text of the next event, including the blank line; null at the end of the stream. */
  async next(): Promise<string | null> {
    for (;;) {
      const end = this.#buffer.indexOf('\n\n')
      if (end !== -1) {
        const block = this.#buffer.slice(0, end + 2)
        this.#buffer = this.#buffer.slice(end + 2)
        return block
      }
      const part = await this.#reader.read()
      if (!part.done) this.#buffer += part.value
      else if (this.#buffer === '') return null
      else throw new Error(`the stream ends within an event: ${JSON.stringify(this.#buffer)}`)
    }
  }

  /** The JSON of the next event, which must not have a name. */
  async data(): Promise<unknown> {
    const block = await this.next()
    const json = /^data: (.*)\n\n$/.exec(block ?? '')?.[1]
    if (json === undefined) throw new Error(`not a data event: ${JSON.stringify(block)}`)
    return JSON.parse(json)
  }

  /** The types of the next events. */
  async types(count: number): Promise<string[]> {
    const types: string[] = []
    while (types.length < count) types.push(((await this.data()) as { type: string }).type)
    return types
  }

  /** Disconnects, like a client that closes its connection. */
  async close(): Promise<void> {
    await this.#reader.cancel()
  }
}
