import type { AppOptions } from '../app.ts'
import { rootPaths, prepareDirectories } from '../settings/paths.ts'
import { temporaryRoot } from './temporary-root.ts'
import { TestApp, type Answer } from './test-app.ts'

/** A goose server with its own directories, which are removed after the test. Its requests contain the key. */
export class GooseApp extends TestApp {
  readonly root: string

  constructor(options: Partial<AppOptions> = {}, root = temporaryRoot()) {
    const paths = rootPaths(root)
    prepareDirectories(paths, new Date())
    super({ paths, ...options })
    this.root = root
  }

  /** The same server after a restart: only its files are left. */
  restarted(options: Partial<AppOptions> = {}): GooseApp {
    return new GooseApp(options, this.root)
  }

  override async fetch(target: string, init: RequestInit = {}): Promise<Answer> {
    return super.fetch(target, { ...init, headers: { 'X-Secret-Key': 'test', ...(init.headers as Record<string, string> | undefined) } })
  }

  async get(target: string): Promise<Answer> {
    return this.fetch(target)
  }

  /** Sends a value as JSON. */
  async call(method: string, target: string, body: unknown): Promise<Answer> {
    return this.send(method, target, JSON.stringify(body))
  }

  /** The id of a new session. */
  async start(body: object = {}): Promise<string> {
    const { status, text } = await this.call('POST', '/agent/start', { working_dir: '/w', ...body })
    if (status !== 200) throw new Error(`start: ${status} ${text}`)
    return (JSON.parse(text) as { id: string }).id
  }
}
