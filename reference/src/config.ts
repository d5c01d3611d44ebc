import { BlockList, isIP } from 'node:net'
import { noHooks } from './engine/hooks/hooks.ts'
import { maxTimeout } from './handlers/client-tools/executions.ts'
import { defaultBounds } from './handlers/client-tools/registry.ts'
import { defaultRateLimit } from './handlers/client-tools/rate-limit.ts'
import { isHostName, isOriginEntry } from './httpapi/origin.ts'
import { atLeastOneMillisecond, originRule, readConfigFile, type Problem, type ReadFile } from './config-file.ts'
import type { ServerOptions } from './server.ts'
import { pathsOf, rootPaths, type Environment } from './settings/paths.ts'

/** The options that flags, variables and the file set. */
export type ConfiguredOptions = Omit<ServerOptions, 'print'>

export type Loaded = { ok: true; options: ConfiguredOptions; warnings: string[]; exitsWithStdin: boolean } | { ok: false; problems: Problem[] }

/** Everything outside the command line that determines the configuration. */
export interface LaunchContext {
  env: Environment
  home: string
  workingDirectory: string
  readFile: ReadFile
}

/** A setting, as docs/server.md lists it. Some settings have no flag. */
interface Setting<T> {
  flag: string | null
  variable: string
  parse: (text: string) => T | Complaint
}

/** Says what a value should have been. */
class Complaint {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const host: Setting<string> = {
  flag: 'host',
  variable: 'GOOSE_HOST',
  parse: (text) => (isIP(text) === 0 ? new Complaint('it must be an IP address, such as 127.0.0.1 or ::1') : text),
}

const port: Setting<number> = {
  flag: 'port',
  variable: 'GOOSE_PORT',
  parse: (text) =>
    wholeNumber(text, 0, 65_535) ?? new Complaint('it must be a whole number from 0 to 65535'),
}

const config: Setting<string> = { flag: 'config', variable: 'AGENTD_CONFIG', parse: notEmpty('file') }

const directory: Setting<string> = {
  flag: 'directory',
  variable: 'AGENTD_DIRECTORY',
  parse: notEmpty('directory'),
}

const defaultTimeout: Setting<number> = {
  flag: 'default-timeout',
  variable: 'AGENTD_DEFAULT_TIMEOUT',
  parse: milliseconds,
}

const keepaliveInterval: Setting<number> = {
  flag: 'keepalive-interval',
  variable: 'AGENTD_KEEPALIVE_INTERVAL',
  parse: milliseconds,
}

const maxBody: Setting<number> = {
  flag: 'max-body',
  variable: 'AGENTD_MAX_BODY',
  parse: (text) =>
    wholeNumber(text, 1, Infinity) ?? new Complaint('it must be a whole number of bytes, at least 1'),
}

const bodyGrace: Setting<number> = { flag: 'body-grace', variable: 'AGENTD_BODY_GRACE', parse: milliseconds }

const hostName: Setting<string> = {
  flag: 'host-name',
  variable: 'AGENTD_HOST_NAME',
  parse: (text) => (isHostName(text) ? text : new Complaint('it must be the name of a host, without a port')),
}

/** The only flag that may be given several times. The variable has all origins, separated by commas. */
const allowOrigin: Setting<string[]> = {
  flag: 'allow-origin',
  variable: 'AGENTD_ALLOWED_ORIGINS',
  parse: (text) => {
    const entries = text.split(',')
    return entries.every(isOriginEntry) ? entries : new Complaint(originRule)
  },
}

/** The secret has no flag, because everybody who lists processes could read it. */
const secretKey = 'GOOSE_SERVER__SECRET_KEY'
/** The default secret, which everybody knows. */
const knownSecret = 'test'

const maxActiveAgents: Setting<number> = {
  flag: null,
  variable: 'GOOSE_MAX_ACTIVE_AGENTS',
  parse: (text) => wholeNumber(text, 1, Infinity) ?? new Complaint('it must be a whole number, at least 1'),
}

/** The flags, in the order of the table in docs/server.md. */
const flags = [host, port, config, directory, defaultTimeout, keepaliveInterval, maxBody, bodyGrace, allowOrigin, hostName].map(({ flag }) => flag)
/** A flag without a value: the server may listen on any address although its secret is the default one. */
const insecure = 'insecure'
/** A flag without a value: the server stops when its standard input ends (S55). */
const exitWithStdin = 'exit-with-stdin'
const switches = [insecure, exitWithStdin]

/**
 * Reads the options of the server from flags, environment and configuration file; the first one with a value wins. All sources
 * are checked, including those that lose. All problems are returned at once.
 */
export async function loadConfig(args: readonly string[], around: LaunchContext): Promise<Loaded> {
  const problems: Problem[] = []
  const given = readFlags(args, problems)
  const find = <T>(setting: Setting<T>): T | undefined => findAll(setting).at(-1)
  /** The values of the flag, else that of the variable. */
  const findAll = <T>(setting: Setting<T>): T[] => {
    const { flag, variable, parse } = setting
    const check = (where: string, name: string, text: string | undefined): T | undefined => {
      if (text === undefined) return undefined
      const value = parse(text)
      if (!(value instanceof Complaint)) return value
      problems.push({ where, what: `${name} is ${JSON.stringify(text)}; ${value.text}` })
      return undefined
    }
    // An empty variable counts as not set.
    const fromEnv = check('environment', variable, around.env[variable] || undefined)
    const fromFlags = flag === null ? [] : (given.get(flag) ?? []).map((text) => check('command line', `--${flag}`, text))
    return [fromFlags, [fromEnv]].map((values) => values.filter((value) => value !== undefined)).find((values) => values.length > 0) ?? []
  }

  const named = find(config)
  const file = await readConfigFile(named, around.home, around.readFile, problems)
  const paths = pathsOf(around.env)
  if (paths === undefined) problems.push({ where: 'environment', what: 'HOME is not set; it, or GOOSE_PATH_ROOT, must name a directory' })
  const origins = findAll(allowOrigin)
  const address = find(host) ?? '127.0.0.1'
  const secret = around.env[secretKey] ?? knownSecret
  checkSecret(secret, address, given.has(insecure), problems)
  const options: ConfiguredOptions = {
    host: address,
    port: find(port) ?? 3000,
    directory: find(directory) ?? around.workingDirectory,
    defaultTimeout: find(defaultTimeout) ?? file.defaultTimeout ?? 30_000,
    keepaliveInterval: find(keepaliveInterval) ?? file.keepaliveInterval ?? 30_000,
    maxBody: find(maxBody) ?? 50 * 1024 * 1024,
    bodyGrace: find(bodyGrace) ?? 10_000,
    clientTools: { maxTools: file.maxTools ?? defaultBounds.maxTools, maxClients: file.maxClients ?? defaultBounds.maxClients },
    permission: file.permission ?? 'allow',
    rateLimit: { ...defaultRateLimit, ...file.rateLimit },
    hooks: file.hooks ?? noHooks,
    allowedOrigins: origins.length > 0 ? origins.flat() : (file.allowedOrigins ?? []),
    hostName: find(hostName),
    secretKey: secret,
    paths: paths ?? rootPaths('/'), // a placeholder: it is not used, because there are problems
    environment: around.env,
    maxActiveAgents: find(maxActiveAgents) ?? 100,
  }
  const warnings = secret === knownSecret ? [`the secret is ${knownSecret}, which everybody knows; set ${secretKey} to another one`] : []
  return problems.length === 0 ? { ok: true, options, warnings, exitsWithStdin: given.has(exitWithStdin) } : { ok: false, problems }
}

/** Reports a secret that would let strangers in (S45). */
function checkSecret(secret: string, host: string, isInsecure: boolean, problems: Problem[]): void {
  const complain = (what: string): void => {
    problems.push({ where: 'environment', what: `${secretKey} is ${what}` })
  }
  if (secret === '') complain('empty; it must be a secret text, or not set')
  if (secret === knownSecret && !isLoopback(host) && !isInsecure) {
    complain(`${knownSecret}, which everybody knows, and ${host} can be reached from elsewhere; set another one, or add --${insecure}`)
  }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

function isLoopback(host: string): boolean {
  return loopback.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4')
}

/** The flags with their values, written as `--name value` or `--name=value`. If a flag is repeated, the last one counts, or all of `--allow-origin`. */
function readFlags(args: readonly string[], problems: Problem[]): Map<string, string[]> {
  const given = new Map<string, string[]>()
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? ''
    const [, name, inline] = /^--([^=]+)(?:=(.*))?$/s.exec(arg) ?? []
    if (name !== undefined && switches.includes(name) && inline === undefined) {
      given.set(name, [])
      continue
    }
    if (name === undefined || !flags.includes(name)) {
      const known = [...flags, ...switches].map((flag) => `--${flag}`).join(', ')
      problems.push({ where: 'command line', what: `${JSON.stringify(arg)} is not a flag; there are ${known}` })
      continue
    }
    const value = inline ?? args[++i]
    if (value === undefined) problems.push({ where: 'command line', what: `--${name} has no value` })
    else given.set(name, [...(given.get(name) ?? []), value])
  }
  return given
}

/** Accepts decimal digits only, with leading zeros (S34). */
function wholeNumber(text: string, min: number, max: number): number | undefined {
  if (!/^\d+$/.test(text)) return undefined
  const value = Number(text)
  return value >= min && value <= max ? value : undefined
}

/** A time that is too long for a timer becomes the longest time that a timer supports (S34). */
function milliseconds(text: string): number | Complaint {
  const value = wholeNumber(text, 1, Infinity)
  return value === undefined ? new Complaint(atLeastOneMillisecond) : Math.min(value, maxTimeout)
}

function notEmpty(thing: string): (text: string) => string | Complaint {
  return (text) => (text === '' ? new Complaint(`it must name a ${thing}`) : text)
}
