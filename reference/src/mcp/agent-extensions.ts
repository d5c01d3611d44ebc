import { setMaxListeners } from 'node:events'
import type { FrontendExtension } from '#contract'
import type { JsonObject } from '../wire/json/shape.ts'
import type { Logger } from '../log.ts'
import type { Result } from '../domain/message/result.ts'
import type { ToolContent } from '../domain/message/tool-content.ts'
import type { Authorization } from './client/authorization.ts'
import type { CallListener } from './client/call-listener.ts'
import type { SessionHandle } from '../store/session-handle.ts'
import type { SessionStore } from '../store/session-store.ts'
import { checkBuiltin } from './builtins.ts'
import { normalisedKey, type ExtensionConfig, type McpTool } from '../domain/extension/config.ts'
import { ExtensionError, type Connection } from './client/connection.ts'
import { connectSignedIn } from './oauth/connect-signed-in.ts'
import type { SignIns } from './oauth/sign-ins.ts'
import type { LoadedExtension, ManagedExtensions } from './platform/managed-extensions.ts'
import { connectPlatform } from './platform/platform-extensions.ts'
import type { RemoteExtension, LaunchContext } from './client/transports.ts'
import { compareBytes } from '../text/compare-bytes.ts'

/** The default time limit of a request (X4). */
const defaultTimeoutSeconds = 300
const longestTimeoutSeconds = 86_400
const maxExtensions = 100

export interface ExtensionLaunchDeps extends LaunchContext {
  signIns: SignIns
  store: SessionStore
  logger: Logger
}

interface Loaded {
  config: ExtensionConfig
  connection: Connection
  /** The names of the tools that may be used; empty means all. */
  available: readonly string[]
}

/** The extensions of one agent (GA 6.7), by their normalised keys. */
export class AgentExtensions implements ManagedExtensions {
  readonly #session: SessionHandle
  readonly #deps: ExtensionLaunchDeps
  readonly #loaded = new Map<string, Loaded>()
  readonly #frontends = new Map<string, FrontendExtension>()
  /** The keys of extensions whose connection is being opened, one entry for each attempt. */
  readonly #connecting: string[] = []
  readonly #over = new AbortController()

  constructor(session: SessionHandle, deps: ExtensionLaunchDeps) {
    this.#session = session
    this.#deps = deps
    setMaxListeners(0, this.#over.signal) // each connection that is being opened listens
  }

  /**
   * Connects to an extension, and replaces one with the same key. The signal ends the wait for a sign-in (X48). Rejects with an
   * ExtensionError, or with the reason of the signal.
   */
  async add(config: ExtensionConfig, signal: AbortSignal): Promise<void> {
    const key = normalisedKey(config.name)
    if (key === '') throw new ExtensionError('Extension has no name')
    if (config.type === 'frontend') {
      this.#checkRoom(key)
      const before = this.#loaded.get(key)
      this.#loaded.delete(key)
      this.#frontends.set(key, config)
      await before?.connection.close()
      return
    }
    const connection = await this.#connect(config, key, signal)
    if (this.#over.signal.aborted) {
      await connection.close()
      throw closedError()
    }
    const before = this.#loaded.get(key)
    this.#loaded.set(key, { config, connection, available: config.available_tools })
    this.#frontends.delete(key)
    await before?.connection.close()
  }

  /** Removes an extension. An unknown name is not an error, and frontend tools stay (GA 6.8). */
  async remove(name: string): Promise<void> {
    const key = normalisedKey(name)
    const loaded = this.#loaded.get(key)
    this.#loaded.delete(key)
    await loaded?.connection.close()
  }

  loaded(): LoadedExtension[] {
    const all: LoadedExtension[] = [
      ...[...this.#loaded].map(([key, { config, connection }]) => ({ key, config, resources: connection.resources })),
      ...[...this.#frontends].map(([key, config]) => ({ key, config, resources: undefined })),
    ]
    return all.sort((a, b) => compareBytes(a.key, b.key))
  }

  /** The tools of one extension, or of all. Only these are asked (X2). */
  async tools(wanted?: string): Promise<Map<string, McpTool[]>> {
    const asked = [...this.#loaded].filter(([key]) => wanted === undefined || key === wanted)
    const entries = await Promise.all(
      asked.map(async ([key, { connection, available }]): Promise<[string, McpTool[]]> => {
        const tools = await connection.tools()
        return [key, tools.filter(({ name }) => isAvailable(available, name))]
      }),
    )
    return new Map(entries)
  }

  async instructions(): Promise<ReadonlyMap<string, string>> {
    const loaded = [...this.#loaded].map(async ([key, { connection }]): Promise<[string, string]> => [key, await connection.instructions])
    return new Map([
      ...(await Promise.all(loaded)),
      ...[...this.#frontends].map(([key, { instructions }]): [string, string] => [key, instructions ?? '']),
    ])
  }

  notes(): string[] {
    const byKey = [...this.#loaded].sort(([a], [b]) => compareBytes(a, b))
    return byKey.map(([, { connection }]) => connection.note()).filter((note) => note !== '')
  }

  frontendTools(): readonly McpTool[] {
    return [...this.#frontends.values()].flatMap(({ tools }) => tools)
  }

  call(name: string, args: JsonObject, listener: CallListener, signal: AbortSignal): Promise<Result<ToolContent[]>> | undefined {
    const found = this.#find(name)
    return this.isWithheld(name) ? undefined : found?.loaded.connection.call(found.tool, args, listener, signal)
  }

  /** Whether an extension has to have this tool, but must not offer it. */
  isWithheld(name: string): boolean {
    const found = this.#find(name)
    return found !== undefined && !isAvailable(found.loaded.available, found.tool)
  }

  async close(): Promise<void> {
    this.#over.abort(closedError())
    const all = [...this.#loaded.values()]
    this.#loaded.clear()
    await Promise.all(all.map(({ connection }) => connection.close()))
  }

  #find(name: string): { loaded: Loaded; tool: string } | undefined {
    // If two keys match, the longer one is more specific.
    const key = [...this.#loaded.keys()].filter((one) => name.startsWith(`${one}__`)).sort((a, b) => b.length - a.length)[0]
    const loaded = key === undefined ? undefined : this.#loaded.get(key)
    return key === undefined || loaded === undefined ? undefined : { loaded, tool: name.slice(key.length + 2) }
  }

  async #connect(config: Exclude<ExtensionConfig, FrontendExtension>, key: string, signal: AbortSignal): Promise<Connection> {
    if (config.type === 'platform') {
      const platform = connectPlatform(config, { ...this.#deps, session: this.#session, extensions: this })
      this.#checkRoom(key)
      return platform
    }
    checkBuiltin(config)
    this.#checkRoom(key)
    this.#connecting.push(key)
    try {
      if (config.type !== 'streamable_http') return await this.#open(config)
      const over = AbortSignal.any([signal, this.#over.signal])
      return await connectSignedIn(config, this.#deps.signIns, (authorization) => this.#open(config, authorization), over)
    } finally {
      this.#connecting.splice(this.#connecting.indexOf(key), 1)
    }
  }

  async #open(config: RemoteExtension, authorization?: Authorization): Promise<Connection> {
    const { settings, logger } = this.#deps
    const { signal } = this.#over
    // Loading the SDK takes longer than loading the rest of the server, and most runs do not need it.
    const [{ McpConnection }, { openTransport }] = await Promise.all([import('./client/mcp-connection.ts'), import('./client/transports.ts')])
    const { transport, lastErrorLine } = await openTransport(config, this.#deps, { signal, authorization })
    signal.throwIfAborted()
    const seconds = Number(config.timeout ?? 0)
    return McpConnection.open(transport, {
      timeoutSeconds: seconds === 0 ? defaultTimeoutSeconds : Math.min(seconds, longestTimeoutSeconds),
      clientVersion: settings.variable('GOOSE_MCP_CLIENT_VERSION') || '1.16.0',
      origin: 'uri' in config ? new URL(config.uri).origin : undefined,
      signal,
      onLost: () => {
        logger.warn('extension ended', { session: this.#session.id, extension: config.name, lastWords: lastErrorLine() })
      },
    })
  }

  /**
   * Throws an ExtensionError if an extension with this key would exceed the limit. Extensions that are being connected count too.
   */
  #checkRoom(key: string): void {
    const keys = new Set([...this.#loaded.keys(), ...this.#frontends.keys(), ...this.#connecting])
    const isFull = !keys.has(key) && keys.size >= maxExtensions
    if (isFull || this.#connecting.length >= maxExtensions) throw new ExtensionError('Too many extensions')
  }
}

/** The error for an agent that has been dropped. */
function closedError(): ExtensionError {
  return new ExtensionError('Connection closed')
}

function isAvailable(available: readonly string[], tool: string): boolean {
  return available.length === 0 || available.includes(tool)
}
