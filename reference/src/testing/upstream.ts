import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { onLoopback } from './on-loopback.ts'

/** A request that the upstream has received. */
export interface Asked {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: AskedBody
  /** The text of the body. */
  text: string
}

/** The parts of a model request's body that tests check. */
export interface AskedBody {
  model: string
  messages: { role: string; content?: unknown; tool_calls?: unknown; tool_call_id?: string }[]
  system?: string
  tools?: { name?: string; function?: { name: string } }[]
  stream?: boolean
  [member: string]: unknown
}

/** How the upstream answers one request. */
export type Script = (response: ServerResponse, asked: Asked) => void | Promise<void>

/** A model server on loopback with scripted answers. Each request uses up the first script that accepts it. */
export class Upstream {
  readonly url: string
  readonly asked: Asked[] = []
  readonly #scripts: { script: Script; means: (asked: Asked) => boolean }[] = []

  private constructor(url: string, server: Server) {
    this.url = url
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response))
  }

  static async start(): Promise<Upstream> {
    const server = createServer()
    return new Upstream(await onLoopback(server), server)
  }

  /** Adds a script for the next request that `means` accepts. */
  answers(script: Script, means: (asked: Asked) => boolean = () => true): this {
    this.#scripts.push({ script, means })
    return this
  }

  /** The bodies of the requests for a stream. */
  get streamed(): AskedBody[] {
    return this.asked.filter(({ body }) => body.stream === true).map(({ body }) => body)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer) // no encoding is set, so chunks are bytes
    const text = Buffer.concat(chunks).toString()
    const asked: Asked = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: (text === '' ? {} : JSON.parse(text)) as AskedBody, // the test knows what was sent
      text,
    }
    this.asked.push(asked)
    const at = this.#scripts.findIndex(({ means }) => means(asked))
    if (at === -1) {
      response.writeHead(501).end('{"error":{"message":"no script"}}')
      return
    }
    const [entry] = this.#scripts.splice(at, 1)
    await entry?.script(response, asked)
  }
}

/** Sends this answer unchanged. */
export function plain(status: number, body: unknown, headers: Record<string, string> = {}): Script {
  return (response) => {
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/** A stream of chat completions or Messages. Each value is one line. */
export function streamed(...lines: unknown[]): Script {
  return (response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    for (const line of lines) response.write(`data: ${typeof line === 'string' ? line : JSON.stringify(line)}\n\n`)
    response.end()
  }
}

export interface ChatScript {
  id?: string
  texts?: string[]
  calls?: { id: string; name: string; input: string }[]
  usage?: [input: number, output: number]
}

/** A complete answer of chat completions, as a stream. */
export function chatStream({ id = 'chatcmpl-1', texts = [], calls = [], usage }: ChatScript): Script {
  const chunk = (rest: object): object => ({ id, model: 'm', ...rest })
  return streamed(
    ...texts.map((content) => chunk({ choices: [{ delta: { content } }] })),
    ...calls.map(({ id: call, name, input }, index) =>
      chunk({ choices: [{ delta: { tool_calls: [{ index, id: call, function: { name, arguments: input } }] } }] }),
    ),
    chunk({ choices: [{ delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }] }),
    ...(usage ? [chunk({ choices: [], usage: { prompt_tokens: usage[0], completion_tokens: usage[1], total_tokens: usage[0] + usage[1] } })] : []),
    '[DONE]',
  )
}

/** A complete answer of chat completions, in one piece. */
export function chatWhole(content: string, usage?: [input: number, output: number]): Script {
  return plain(200, {
    id: 'chatcmpl-0',
    model: 'm',
    choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }],
    ...(usage && { usage: { prompt_tokens: usage[0], completion_tokens: usage[1] } }),
  })
}

/** Accepts requests for a stream, as replies send them. */
export function wantsStream({ body }: Asked): boolean {
  return body.stream === true
}

/** Accepts requests for an answer in one piece, such as those for a session name. */
export function wantsWhole({ body }: Asked): boolean {
  return body.stream !== true
}
