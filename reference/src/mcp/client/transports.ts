import type { BuiltinExtension, InlinePythonExtension, SseExtension, StdioExtension, StreamableHttpExtension } from '#contract'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Environment } from '../../settings/paths.ts'
import { withoutOwnSecrets } from '../../settings/own-secrets.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Authorization } from './authorization.ts'
import { ExtensionError } from './connection.ts'
import { HttpTransport } from './http-transport.ts'
import { LastErrorLine } from './last-error-line.ts'
import { checkPackage } from './package-check.ts'
import { ProcessTransport } from './process-transport.ts'
import { pythonCommand, writePythonFile } from './python-file.ts'

/** What launching an extension needs to know about the server. */
export interface LaunchContext {
  settings: Settings
  environment: Environment
  /** The working directory of the server (S18). */
  directory: string
  /** The command that started this program. It starts the built-in extensions too. */
  ownCommand: readonly string[]
}

export type RemoteExtension = StdioExtension | BuiltinExtension | SseExtension | StreamableHttpExtension | InlinePythonExtension

/** The transport to an extension. */
interface ExtensionTransport {
  transport: Transport
  /** The last line of a process on standard error, for the log; empty if there is none. */
  lastErrorLine: () => string
}

/** Opens the transport of an extension that this server supports. Rejects with an ExtensionError. */
export async function openTransport(
  config: RemoteExtension,
  around: LaunchContext,
  { signal, authorization }: { signal: AbortSignal; authorization: Authorization | undefined },
): Promise<ExtensionTransport> {
  switch (config.type) {
    case 'inline_python': {
      const { path, remove } = writePythonFile(config.code, around.environment)
      return processTransport(pythonCommand(path, config.dependencies ?? []), {}, around, remove)
    }
    case 'builtin':
      return processTransport([...around.ownCommand, 'mcp', 'developer'], {}, around)
    case 'stdio': {
      const variables = await variablesOf(config, around)
      await checkPackage(config, around.settings, signal)
      return processTransport([config.cmd, ...config.args], variables, around)
    }
    case 'sse':
      await variablesOf(config, around) // the result is not used, but a missing secret is an error
      return httpTransport(HttpTransport.sse(urlOf(config.uri)))
    case 'streamable_http': {
      const headers = filledIn(config.headers, await variablesOf(config, around))
      return httpTransport(HttpTransport.streamable(urlOf(config.uri), headers, authorization))
    }
    default:
      return config satisfies never
  }
}

function httpTransport(transport: HttpTransport): ExtensionTransport {
  return { transport, lastErrorLine: () => '' }
}

function processTransport(
  [command = '', ...args]: readonly string[],
  variables: Record<string, string>,
  { environment, directory }: LaunchContext,
  onEnded?: () => void,
): ExtensionTransport {
  const searchPath = environment.PATH ?? ''
  const own = { ...withoutOwnSecrets(environment), ...variables }
  const said = new LastErrorLine(Object.values(variables))
  const onError = (chunk: Buffer): void => {
    said.add(chunk)
  }
  const transport = new ProcessTransport({ command, searchPath, args, environment: own, directory, onEnded, onError })
  return { transport, lastErrorLine: () => said.text() }
}

/** The environment variables of an extension: the secrets that it names, and its own variables (GA 6.7, X39). */
async function variablesOf(
  { envs, env_keys: keys }: StdioExtension | SseExtension | StreamableHttpExtension,
  { settings }: LaunchContext,
): Promise<Record<string, string>> {
  const secrets: [string, string][] = []
  for (const key of keys.filter((key) => !Object.hasOwn(envs, key))) {
    const value = await settings.secret(key)
    if (value === undefined) {
      const reason = `Configuration value not found: ${key.toUpperCase()}`
      throw new ExtensionError(`invalid config: Failed to fetch secret '${key}' from config: ${reason}`)
    }
    if (typeof value === 'string') secrets.push([key, value])
  }
  return { ...Object.fromEntries(secrets), ...envs }
}

/** Header fields with `${VAR}` and `$VAR` replaced; an unknown variable becomes an empty text. */
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
