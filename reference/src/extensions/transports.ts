import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Environment } from '../settings/paths.ts'
import { ownSecret } from '../settings/settings.ts'
import type { Settings } from '../settings/settings.ts'
import type {
  BuiltinExtension, InlinePythonExtension, SseExtension, StdioExtension, StreamableHttpExtension,
} from './config.ts'
import { ExtensionError } from './connection.ts'
import { HttpTransport } from './http-transport.ts'
import { LastWords } from './last-words.ts'
import { checkPackage } from './package-check.ts'
import { ProcessTransport } from './process-transport.ts'
import { pythonCommand, writePythonFile } from './python-file.ts'

/** What connecting needs to know of the server. */
export interface Surroundings {
  settings: Settings
  environment: Environment
  /** Where the server runs (S18). */
  directory: string
  /** How this program was started, to start it again as a built-in extension. */
  ownCommand: readonly string[]
}

export type RemoteExtension = StdioExtension | BuiltinExtension | SseExtension | StreamableHttpExtension | InlinePythonExtension

/** The way to an extension. */
export interface Way {
  transport: Transport
  /** What a process has said last, for the log; empty if nothing. */
  lastWords: () => string
}

/** How the extension of a config is reached, which is one that is built. Rejects with an ExtensionError. */
export async function reach(config: RemoteExtension, around: Surroundings, signal: AbortSignal): Promise<Way> {
  switch (config.type) {
    case 'inline_python': {
      const { path, remove } = writePythonFile(config.code, around.environment)
      return processOf(pythonCommand(path, config.dependencies ?? []), {}, around, remove)
    }
    case 'builtin':
      return processOf([...around.ownCommand, 'mcp', 'developer'], {}, around)
    case 'stdio': {
      const variables = variablesOf(config, around)
      await checkPackage(config, around.settings, signal)
      return processOf([config.cmd, ...config.args], variables, around)
    }
    case 'sse':
      variablesOf(config, around) // they go nowhere, but a secret that is missing is an error
      return overHttp(HttpTransport.sse(urlOf(config.uri)))
    case 'streamable_http': {
      const headers = filledIn(config.headers, variablesOf(config, around))
      return overHttp(HttpTransport.streamable(urlOf(config.uri), headers))
    }
    default:
      return config satisfies never
  }
}

function overHttp(transport: HttpTransport): Way {
  return { transport, lastWords: () => '' }
}

function processOf(
  [command = '', ...args]: readonly string[],
  variables: Record<string, string>,
  { environment, directory }: Surroundings,
  onEnded?: () => void,
): Way {
  const inherited = Object.entries(environment).flatMap(([name, value]): [string, string][] =>
    // The key to this server is nobody else's.
    value === undefined || name === ownSecret ? [] : [[name, value]],
  )
  const searchPath = environment.PATH ?? ''
  const own = { ...Object.fromEntries(inherited), ...variables }
  const said = new LastWords(Object.values(variables))
  const onError = (chunk: Buffer): void => {
    said.add(chunk)
  }
  const transport = new ProcessTransport({ command, searchPath, args, environment: own, directory, onEnded, onError })
  return { transport, lastWords: () => said.text() }
}

/** The variables of an extension: the secrets that it names, and its own (GA 6.7, X39). */
function variablesOf({ envs, env_keys: keys }: StdioExtension | SseExtension | StreamableHttpExtension, { settings }: Surroundings): Record<string, string> {
  const secrets = keys.filter((key) => !Object.hasOwn(envs, key)).flatMap((key): [string, string][] => {
    const value = settings.secret(key)
    if (value === undefined) {
      const reason = `Configuration value not found: ${key.toUpperCase()}`
      throw new ExtensionError(`invalid config: Failed to fetch secret '${key}' from config: ${reason}`)
    }
    return typeof value === 'string' ? [[key, value]] : []
  })
  return { ...Object.fromEntries(secrets), ...envs }
}

/** Header fields with `${VAR}` and `$VAR` replaced, by nothing where there is no such variable. */
function filledIn(headers: Record<string, string>, variables: Record<string, string>): Record<string, string> {
  const fill = (text: string): string =>
    text.replace(/\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)/g, (_, braced?: string, bare?: string) => {
      const name = braced ?? bare ?? ''
      return Object.hasOwn(variables, name) ? (variables[name] ?? '') : ''
    })
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)]))
}

function urlOf(uri: string): URL {
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  if (url === undefined || !/^https?:\/\/[^/]/i.test(uri)) throw new ExtensionError('Invalid URL: http:// or https:// with a host is needed')
  return url
}
