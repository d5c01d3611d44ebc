import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Environment } from '../settings/paths.ts'
import type { Settings } from '../settings/settings.ts'
import type {
  BuiltinExtension, InlinePythonExtension, SseExtension, StdioExtension, StreamableHttpExtension,
} from './config.ts'
import { ExtensionError } from './connection.ts'

/** Bytes of the longest message of a process. */
const maxMessageBytes = 16 * 1024 * 1024

/** What connecting needs to know of the server. */
export interface Surroundings {
  settings: Settings
  environment: Environment
  /** How this program was started, to start it again as a built-in extension. */
  ownCommand: readonly string[]
}

/** Where an extension is, and what is to be done when it is not needed any more. */
export interface Reached {
  transport: Transport
  cleanUp: () => void
}

type Remote = StdioExtension | BuiltinExtension | SseExtension | StreamableHttpExtension | InlinePythonExtension

/** How the extension of a config is reached. Throws an ExtensionError. */
export function reach(config: Remote, around: Surroundings): Reached {
  switch (config.type) {
    case 'stdio':
      return start([config.cmd, ...config.args], variablesOf(config, around), around)
    case 'builtin':
      return startBuiltin(config.name, around)
    case 'inline_python':
      return startPython(config, around)
    case 'sse':
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- there are servers that speak nothing else
      return { transport: new SSEClientTransport(urlOf(config.uri)), cleanUp: nothing }
    case 'streamable_http': {
      const headers = filledIn(config.headers, variablesOf(config, around))
      // The SDK's declaration and exactOptionalPropertyTypes do not agree on an optional member.
      const transport = new StreamableHTTPClientTransport(urlOf(config.uri), { requestInit: { headers } }) as Transport
      return { transport, cleanUp: nothing }
    }
    default:
      return config satisfies never
  }
}

function nothing(): void {
  // Nothing is left of it.
}

function start([command = '', ...args]: readonly string[], variables: Record<string, string>, { environment }: Surroundings): Reached {
  const inherited = Object.fromEntries(Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  const transport = new StdioClientTransport({
    command, args: [...args], env: { ...inherited, ...variables }, stderr: 'ignore', maxBufferSize: maxMessageBytes,
  })
  let pid: number | null = null
  const begin = transport.start.bind(transport)
  transport.start = async () => {
    await begin()
    pid = transport.pid
  }
  const cleanUp = (): void => {
    kill(pid)
  }
  return { transport, cleanUp }
}

/** Ends a process that did not end by itself. */
function kill(pid: number | null): void {
  if (pid === null) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

const builtins = ['autovisualiser', 'computercontroller', 'developer', 'memory', 'tutorial']

function startBuiltin(name: string, around: Surroundings): Reached {
  const known = name.replace(/\s/g, '').toLowerCase()
  if (!builtins.includes(known)) throw new ExtensionError(`Unknown builtin extension: ${name}`)
  if (known !== 'developer') throw new ExtensionError(`Builtin extension is not built on this server: ${name}`)
  return start([...around.ownCommand, 'mcp', known], {}, around)
}

/** Runs code with uvx, which makes an environment with what it needs (GA 6.7). */
function startPython({ code, dependencies }: InlinePythonExtension, around: Surroundings): Reached {
  const directory = mkdtempSync(join(tmpdir(), 'goose-python-'))
  const file = join(directory, 'extension.py')
  writeFileSync(file, code, { mode: 0o600 })
  const packages = ['mcp', ...(dependencies ?? [])].flatMap((one) => ['--with', one])
  const { transport, cleanUp } = start(['uvx', ...packages, 'python', file], {}, around)
  const remove = (): void => {
    cleanUp()
    rmSync(directory, { recursive: true, force: true })
  }
  return { transport, cleanUp: remove }
}

/** The variables of an extension: its own, and the secrets that it names (GA 6.7). */
function variablesOf({ envs, env_keys: keys }: StdioExtension | StreamableHttpExtension, { settings }: Surroundings): Record<string, string> {
  const secrets = keys.filter((key) => !Object.hasOwn(envs, key)).map((key): [string, string] => {
    const value = settings.secret(key)
    if (value === undefined || value === null) throw new ExtensionError(`Configuration value not found: ${key}`)
    if (typeof value !== 'string') throw new ExtensionError(`Configuration value is not a string: ${key}`)
    return [key, value]
  })
  return { ...Object.fromEntries(secrets), ...envs }
}

/** Header fields with `${VAR}` and `$VAR` replaced where there is such a variable. */
function filledIn(headers: Record<string, string>, variables: Record<string, string>): Record<string, string> {
  const fill = (text: string): string =>
    text.replace(/\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)/g, (whole: string, braced?: string, bare?: string) => {
      const name = braced ?? bare ?? ''
      return Object.hasOwn(variables, name) ? (variables[name] ?? whole) : whole
    })
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)]))
}

function urlOf(uri: string): URL {
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new ExtensionError(`Invalid URL: ${uri}`)
  return url
}
