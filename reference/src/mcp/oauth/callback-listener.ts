import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { abortable } from '../../abortable.ts'
import { SignInError } from './sign-in-error.ts'

const maxConnections = 16
const connectionMs = 10_000
const maxHeadBytes = 16 * 1024
const path = '/oauth_callback'

const headers = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'",
  Connection: 'close',
}

const page = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Signed in</title><p>You are signed in, and can close this page.</p></html>\n'

/** How a sign-in went on in the browser. */
type Outcome = { code: string } | { error: SignInError }

/** Listens for the browser that comes back from the authorization server (X54). */
export class CallbackListener {
  readonly #server: Server
  readonly #state: string
  #port = 0
  readonly #connections = new Set<Socket>()
  /** The one that gets the answer that ends the wait. */
  #last: Socket | undefined
  #outcome: Outcome | undefined
  #onOutcome: ((outcome: Outcome) => void) | undefined

  private constructor(state: string) {
    this.#state = state
    // A request without a host is answered, too.
    this.#server = createServer({ maxHeaderSize: maxHeadBytes, requireHostHeader: false })
    this.#server.maxConnections = maxConnections
    this.#server.on('connection', (socket: Socket) => {
      this.#watch(socket)
    })
    for (const event of ['request', 'checkContinue', 'checkExpectation']) {
      this.#server.on(event, (request: IncomingMessage, response: ServerResponse) => {
        this.#answer(request, response)
      })
    }
    // Node's own answer would lack the header fields.
    this.#server.on('clientError', (_, socket) => socket.destroy())
  }

  /** Rejects with a SignInError if no port can be opened. */
  static async open(state: string): Promise<CallbackListener> {
    const listener = new CallbackListener(state)
    try {
      await new Promise<void>((resolve, reject) => {
        listener.#server.once('error', reject)
        listener.#server.listen(0, '127.0.0.1', resolve)
      })
    } catch (error) {
      throw new SignInError('no port for the answer', error)
    }
    listener.#port = (listener.#server.address() as AddressInfo).port // it listens on a port
    return listener
  }

  get redirectUri(): string {
    return `http://localhost:${this.#port}${path}`
  }

  /** Waits for the code. Rejects with a SignInError, or with the reason of the signal. */
  async code(signal: AbortSignal): Promise<string> {
    const outcome = this.#outcome ?? await abortable<Outcome>(signal, (resolve) => {
      this.#onOutcome = resolve
      return () => (this.#onOutcome = undefined)
    })
    if ('error' in outcome) throw outcome.error
    return outcome.code
  }

  /** Closes the port, and all connections but the one that still gets its answer. */
  close(): void {
    this.#server.close()
    for (const socket of this.#connections) if (socket !== this.#last) socket.destroy()
  }

  #watch(socket: Socket): void {
    this.#connections.add(socket)
    const timer = setTimeout(() => socket.destroy(), connectionMs)
    socket.on('close', () => {
      clearTimeout(timer)
      this.#connections.delete(socket)
    })
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    if (this.#outcome !== undefined) return void response.destroy() // only one answer is accepted
    const { method, url = '' } = request
    const { host } = request.headers
    const port = this.#port
    const [target, ...query] = url.split('?')
    if (host !== `localhost:${port}` && host !== `127.0.0.1:${port}`) respond(response, 403, 'This address is not known here.')
    else if (target !== path) respond(response, 404, 'There is nothing here.')
    else if (method !== 'GET') respond(response, 405, 'Only GET is allowed.', { Allow: 'GET' })
    else this.#take(new URLSearchParams(query.join('?')), response)
  }

  #take(query: URLSearchParams, response: ServerResponse): void {
    const [code, state] = [query.get('code'), query.get('state')]
    if (query.get('error')) {
      respond(response, 400, 'The sign-in was refused. You can close this page.')
      this.#settle({ error: new SignInError('the authorization server refused it') }, response)
    } else if (!code || !state) {
      respond(response, 400, 'The code or the state is missing.')
    } else if (state !== this.#state) {
      respond(response, 400, 'This answer is not for this sign-in.')
      this.#settle({ error: new SignInError('the answer is not for this sign-in') }, response)
    } else {
      response.writeHead(200, { ...headers, 'Content-Type': 'text/html; charset=utf-8' }).end(page)
      this.#settle({ code }, response)
    }
  }

  #settle(outcome: Outcome, response: ServerResponse): void {
    this.#outcome = outcome
    this.#last = response.socket ?? undefined
    this.close()
    this.#onOutcome?.(outcome)
  }
}

function respond(response: ServerResponse, status: number, text: string, more: Record<string, string> = {}): void {
  response.writeHead(status, { ...headers, ...more, 'Content-Type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}
