import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Environment } from '../settings/paths.ts'
import type { Settings } from '../settings/settings.ts'
import type {
  BuiltinExtension, InlinePythonExtension, SseExtension, StdioExtension, StreamableHttpExtension,
} from './config.ts'
import { ExtensionError } from './connection.ts'
import { HttpTransport } from './http-transport.ts'
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

/** How the extension of a config is reached, which is one that is built. `workingDirectory` is that of the session. Throws an ExtensionError. */
export function reach(config: RemoteExtension, around: Surroundings, workingDirectory: string): Transport {
  switch (config.type) {
    case 'inline_python': {
      const { path, remove } = writePythonFile(config.code, around.environment)
      return processOf(pythonCommand(path, config.dependencies ?? []), {}, around.directory, around, remove)
    }
    case 'builtin':
      return processOf([...around.ownCommand, 'mcp', 'developer'], {}, workingDirectory, around)
    case 'stdio':
      return processOf([config.cmd, ...config.args], variablesOf(config, around), around.directory, around)
    case 'sse':
      return HttpTransport.sse(urlOf(config.uri))
    case 'streamable_http': {
      const headers = filledIn(config.headers, variablesOf(config, around))
      return HttpTransport.streamable(urlOf(config.uri), headers)
    }
    default:
      return config satisfies never
  }
}

function processOf(
  [command = '', ...args]: readonly string[],
  variables: Record<string, string>,
  directory: string,
  { environment }: Surroundings,
  onEnded?: () => void,
): Transport {
  const inherited = Object.entries(environment).flatMap(([name, value]): [string, string][] =>
    // The key to this server is nobody else's.
    value === undefined || name === 'GOOSE_SERVER__SECRET_KEY' ? [] : [[name, value]],
  )
  const searchPath = environment.PATH ?? ''
  const own = { ...Object.fromEntries(inherited), ...variables }
  return new ProcessTransport({ command, searchPath, args, environment: own, directory, onEnded })
}

/** The variables of an extension: the secrets that it names, and its own (GA 6.7). */
function variablesOf({ envs, env_keys: keys }: StdioExtension | StreamableHttpExtension, { settings }: Surroundings): Record<string, string> {
  const secrets = keys.filter((key) => !Object.hasOwn(envs, key)).map((key): [string, string] => {
    const value = settings.secret(key)
    if (value === undefined || value === null) throw new ExtensionError(`Configuration value not found: ${key}`)
    if (typeof value !== 'string') throw new ExtensionError(`Configuration value is not a string: ${key}`)
    return [key, value]
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
