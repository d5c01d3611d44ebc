import { createApp, type App, type AppOptions } from '../app.ts'
import type { Fields, Level, Logger } from '../log.ts'
import { rootPaths } from '../settings/paths.ts'
import { inlineRecipeWorker } from './recipes.ts'
import { temporaryRoot } from './temporary-root.ts'
import { EventReader } from './event-reader.ts'

/** One line of a logger that records its lines. */
export interface LogEntry {
  level: Level
  message: string
  fields: Fields
}

export function recordingLogger(): { logger: Logger; entries: LogEntry[] } {
  const entries: LogEntry[] = []
  const at =
    (level: Level) =>
    (message: string, fields: Fields = {}): void => {
      entries.push({ level, message, fields })
    }
  return { logger: { info: at('info'), warn: at('warn'), error: at('error') }, entries }
}

/** A response whose body has been read. */
export interface Answer {
  status: number
  headers: Headers
  text: string
}

/** The working directory of the server under test. */
export const home = '/home/test'

/** Options of the goose server for tests that do not use it, without its directories. */
export const gooseOptions: Pick<AppOptions, 'secretKey' | 'environment' | 'maxActiveAgents' | 'recipeWorker' | 'allowedOrigins' | 'print'> = {
  allowedOrigins: ['*'],
  secretKey: 'test',
  environment: { GOOSE_DISABLE_KEYRING: '', GOOSE_PRICING_URL: 'none' },
  maxActiveAgents: 100,
  recipeWorker: inlineRecipeWorker,
  print: () => undefined,
}

/** An app with methods for the calls that many tests make. */
export class TestApp {
  readonly app: App
  readonly logs: LogEntry[]

  constructor(options: Partial<AppOptions> = {}) {
    const { logger, entries } = recordingLogger()
    this.logs = entries
    this.app = createApp(
      {
        directory: home,
        defaultTimeout: 30_000,
        keepaliveInterval: 30_000,
        maxBody: 1024 * 1024,
        paths: options.paths ?? rootPaths(temporaryRoot()),
        ...gooseOptions,
        ...options,
        environment: { ...gooseOptions.environment, ...options.environment },
      },
      logger,
    )
  }

  async fetch(target: string, init: RequestInit = {}): Promise<Answer> {
    const response = await this.app.fetch(new Request(url(target), init))
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  /** Sends a text as JSON, unchanged. */
  async send(method: string, target: string, body: string, headers: Record<string, string> = jsonType): Promise<Answer> {
    return this.fetch(target, { method, body, headers })
  }

  async register(clientID: string, names: string[], query = ''): Promise<Answer> {
    const tools = names.map((id) => ({ id, description: `does ${id}`, parameters: {} }))
    return this.send('POST', `/client-tools/register${query}`, JSON.stringify({ clientID, tools }))
  }

  async submit(requestID: string, result: unknown, query = ''): Promise<Answer> {
    return this.send('POST', `/client-tools/result${query}`, JSON.stringify({ requestID, result }))
  }

  async execute(body: unknown, query = '', init: RequestInit = {}): Promise<Answer> {
    const text = JSON.stringify(body)
    return this.fetch(`/client-tools/execute${query}`, { method: 'POST', body: text, ...init })
  }

  /** Opens an event stream. */
  async open(target: string, init: RequestInit = {}): Promise<EventReader> {
    const response = await this.app.fetch(new Request(url(target), init))
    if (response.body === null) throw new Error(`${target}: status ${response.status} without a stream`)
    return new EventReader(response)
  }

  /** Opens `/event`, and skips its first event. */
  async events(query = ''): Promise<EventReader> {
    const reader = await this.open(`/event${query}`)
    await reader.next()
    return reader
  }

  /** The full IDs of a client's tools. */
  async tools(clientID: string): Promise<string[]> {
    const { text } = await this.fetch(`/client-tools/tools/${encodeURIComponent(clientID)}`)
    return (JSON.parse(text) as { id: string }[]).map(({ id }) => id)
  }
}

const jsonType = { 'Content-Type': 'application/json' }

function url(target: string): string {
  return `http://localhost${target}`
}
