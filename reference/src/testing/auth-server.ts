import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { onLoopback } from './on-loopback.ts'

/** A request to the server: its method and path, its token, and its body. */
export interface AuthRequest {
  line: string
  authorization: string | undefined
  body: string
}

/** How a test changes the answers. Undefined leaves the usual one. */
type Answer = (request: AuthRequest, response: ServerResponse) => boolean

/**
 * An authorization server on loopback, and an MCP server at `/mcp` that accepts its tokens. The tokens are `canary-access-1`, and so on,
 * and every token is accepted.
 */
export class AuthServer {
  readonly url: string
  readonly asked: AuthRequest[] = []
  /** Answers a request itself if it returns true. */
  answer: Answer = () => false
  /** How many seconds a token lasts. */
  lasts: number | undefined
  #tokens = 0

  private constructor(url: string, server: Server) {
    this.url = url
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#take(request, response))
  }

  static async start(): Promise<AuthServer> {
    const server = createServer()
    return new AuthServer(await onLoopback(server), server)
  }

  /** The configuration of an extension that is its MCP server. */
  extension(name = 'Far', path = '/mcp'): object {
    return { type: 'streamable_http', name, description: null, uri: `${this.url}${path}` }
  }

  /** The requests whose line begins so. */
  lines(start: string): AuthRequest[] {
    return this.asked.filter(({ line }) => line.startsWith(start))
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer) // no encoding is set, so chunks are bytes
    const asked = { line: `${request.method ?? ''} ${request.url ?? ''}`, authorization: request.headers.authorization, body: Buffer.concat(chunks).toString() }
    this.asked.push(asked)
    if (!this.answer(asked, response)) this.#usual(asked, response)
  }

  #usual({ line, authorization, body }: AuthRequest, response: ServerResponse): void {
    if (line.startsWith('GET /.well-known/oauth-authorization-server')) {
      const [authorization_endpoint, token_endpoint, registration_endpoint] = ['authorize', 'token', 'register'].map((path) => `${this.url}/${path}`)
      json(response, 200, { authorization_endpoint, token_endpoint, registration_endpoint })
    } else if (line === 'POST /register') {
      json(response, 201, { client_id: 'c', client_secret: 'canary-secret' })
    } else if (line === 'POST /token') {
      const number = ++this.#tokens
      json(response, 200, { access_token: `canary-access-${number}`, token_type: 'Bearer', refresh_token: `canary-refresh-${number}`, expires_in: this.lasts })
    } else if (!line.endsWith(' /mcp')) {
      response.writeHead(404).end()
    } else if (authorization?.startsWith('Bearer canary-access-') !== true) {
      response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end()
    } else if (line.startsWith('POST ')) {
      speakMcp(body, response)
    } else {
      response.writeHead(405).end()
    }
  }
}

function speakMcp(body: string, response: ServerResponse): void {
  const { id, method } = JSON.parse(body) as { id?: number; method: string }
  if (id === undefined) {
    response.writeHead(202).end()
    return
  }
  const hello = { protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'n', version: '1' } }
  const result = method === 'initialize' ? hello : { tools: [{ name: 't', inputSchema: {} }] }
  json(response, 200, { jsonrpc: '2.0', id, result })
}

export function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
}
