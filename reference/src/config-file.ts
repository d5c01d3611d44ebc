import { join } from 'node:path'
import type { HookCommand } from './engine/hooks/hook-process.ts'
import type { HookLists } from './engine/hooks/hooks.ts'
import { isMissing } from './error-code.ts'
import { maxTimeout } from './handlers/client-tools/executions.ts'
import { decisions, type Decision, type PermissionRules } from './handlers/client-tools/permission-rules.ts'
import type { RateLimitOptions } from './handlers/client-tools/rate-limit.ts'
import { isOriginEntry } from './httpapi/origin.ts'
import { isObject } from './wire/json/is-object.ts'
import { parseJson } from './wire/json/parse.ts'
import { stringifyJson } from './wire/json/stringify.ts'

/** A value that cannot be used: where it comes from, what it is, and what it should be. */
export interface Problem {
  where: string
  what: string
}

const atLeastOne = 'it must be a whole number, at least 1'
export const originRule = 'it must be * or an origin as browsers send it, such as https://app.example.com'
export const atLeastOneMillisecond = 'it must be a whole number of milliseconds, at least 1'

export type ReadFile = (path: string) => Promise<Uint8Array>

/** The settings that the configuration file may contain (CT 9.2, 9.3). */
interface FileSettings extends Partial<Record<keyof typeof keys, number>> {
  permission?: PermissionRules
  rateLimit?: Partial<RateLimitOptions>
  allowedOrigins?: string[]
  hooks?: HookLists
}

/** The type of each key, and the largest value that makes a difference. */
const keys = {
  defaultTimeout: { rule: atLeastOneMillisecond, most: maxTimeout },
  keepaliveInterval: { rule: atLeastOneMillisecond, most: maxTimeout },
  maxTools: { rule: atLeastOne, most: Infinity },
  maxClients: { rule: atLeastOne, most: Infinity },
}

/** The same for the keys of `rateLimit`. */
const rateLimitKeys = {
  calls: { rule: 'it must be a whole number, at least 0', least: 0 },
  windowMs: { rule: atLeastOneMillisecond, least: 1 },
}

/**
 * Reads the configuration file: the named one, or else the one in the home directory. Only the latter may be missing. Unknown
 * keys are ignored; known keys must be valid.
 */
export async function readConfigFile(
  named: string | undefined,
  home: string,
  readFile: ReadFile,
  problems: Problem[],
): Promise<FileSettings> {
  const path = named ?? join(home, '.config', 'opencode', 'config.json')
  const complain = (what: string): FileSettings => {
    problems.push({ where: path, what })
    return {}
  }

  let bytes: Uint8Array
  try {
    bytes = await readFile(path)
  } catch (error) {
    if (named === undefined && isMissing(error)) return {}
    return complain(`the file cannot be read: ${reason(error)}`)
  }
  let json: unknown
  try {
    json = parseJson(bytes)
  } catch (error) {
    return complain(`the file is not JSON: ${reason(error)}`)
  }
  if (!isObject(json)) return complain(`the file is ${show(json)}; it must be an object`)
  const settings: FileSettings = {}
  readOrigins(json, settings, complain)
  readHooks(json, settings, complain)
  const { clientTools = {} } = json
  if (!isObject(clientTools)) return complain(`clientTools is ${show(clientTools)}; it must be an object`)
  for (const key of Object.keys(keys) as (keyof typeof keys)[]) {
    const { rule, most } = keys[key]
    const value = clientTools[key]
    if (value === undefined) continue
    if (isWhole(value, 1)) settings[key] = Math.min(value, most)
    else complain(`clientTools.${key} is ${show(value)}; ${rule}`)
  }
  readPermission(clientTools, settings, complain)
  readRateLimit(clientTools, settings, complain)
  return settings
}

function readOrigins({ allowedOrigins }: Record<string, unknown>, settings: FileSettings, complain: (what: string) => void): void {
  if (allowedOrigins === undefined) return
  if (!Array.isArray(allowedOrigins)) {
    complain(`allowedOrigins is ${show(allowedOrigins)}; it must be a list of origins`)
    return
  }
  const wrong = (allowedOrigins as unknown[]).filter((entry) => typeof entry !== 'string' || !isOriginEntry(entry))
  for (const entry of wrong) complain(`allowedOrigins has ${show(entry)}; ${originRule}`)
  if (wrong.length === 0) settings.allowedOrigins = allowedOrigins as string[] // all entries are texts
}

const maxHooks = 64
const hookKeys = {
  match: { isValid: (value: unknown) => typeof value === 'string', rule: 'it must be a pattern of tool names' },
  command: { isValid: isCommand, rule: 'it must be a list of texts, and the first one must name a program' },
  timeoutMs: { isValid: (value: unknown) => isWhole(value, 1) && value <= 60_000, rule: 'it must be a whole number of milliseconds from 1 to 60000' },
}

function readHooks({ hooks = {} }: Record<string, unknown>, settings: FileSettings, complain: (what: string) => void): void {
  if (!isObject(hooks)) {
    complain(`hooks is ${show(hooks)}; it must be an object`)
    return
  }
  const { before = [], after = [] } = hooks
  settings.hooks = { before: hooksIn('hooks.before', before, complain), after: hooksIn('hooks.after', after, complain) }
}

/** The valid hooks of a list (S83). */
function hooksIn(name: string, list: unknown, complain: (what: string) => void): HookCommand[] {
  if (!Array.isArray(list)) {
    complain(`${name} is ${show(list)}; it must be a list of hooks`)
    return []
  }
  if (list.length > maxHooks) complain(`${name} has ${list.length} hooks; it must have at most ${maxHooks}`)
  return list.slice(0, maxHooks).flatMap((entry: unknown, index) => {
    const at = `${name}[${index}]`
    if (!isObject(entry)) {
      complain(`${at} is ${show(entry)}; it must be an object`)
      return []
    }
    const hook: Record<string, unknown> = { timeoutMs: 5000, ...entry }
    const wrong = (Object.keys(hookKeys) as (keyof typeof hookKeys)[]).filter((key) => !hookKeys[key].isValid(hook[key]))
    for (const key of wrong) {
      const value = hook[key]
      complain(`${at}.${key} is ${value === undefined ? 'missing' : show(value)}; ${hookKeys[key].rule}`)
    }
    return wrong.length === 0 ? [hook as unknown as HookCommand] : [] // all of its keys are valid
  })
}

function isCommand(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((part, index) => typeof part === 'string' && (index > 0 || part !== ''))
}

function readPermission({ permission }: Record<string, unknown>, settings: FileSettings, complain: (what: string) => void): void {
  const rule = 'it must be allow, ask or deny'
  if (permission === undefined) return
  if (isDecision(permission)) settings.permission = permission
  else if (!isObject(permission)) complain(`clientTools.permission is ${show(permission)}; ${rule}, or an object of these`)
  else {
    const entries = Object.entries(permission)
    for (const [pattern, value] of entries) {
      if (!isDecision(value)) complain(`clientTools.permission has ${show(value)} for ${show(pattern)}; ${rule}`)
    }
    settings.permission = new Map(entries.filter((entry): entry is [string, Decision] => isDecision(entry[1])))
  }
}

function isDecision(value: unknown): value is Decision {
  return decisions.some((one) => one === value)
}

function readRateLimit({ rateLimit }: Record<string, unknown>, settings: FileSettings, complain: (what: string) => void): void {
  if (rateLimit === undefined) return
  if (!isObject(rateLimit)) {
    complain(`clientTools.rateLimit is ${show(rateLimit)}; it must be an object`)
    return
  }
  settings.rateLimit = {}
  for (const key of Object.keys(rateLimitKeys) as (keyof typeof rateLimitKeys)[]) {
    const { rule, least } = rateLimitKeys[key]
    const value = rateLimit[key]
    if (value === undefined) continue
    if (isWhole(value, least)) settings.rateLimit[key] = value
    else complain(`clientTools.rateLimit.${key} is ${show(value)}; ${rule}`)
  }
}

function isWhole(value: unknown, least: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message } = error.cause instanceof Error ? error.cause : error
  return message.replace(/[\p{Cc}\s]+/gu, ' ') // the parser quotes the file, including its line breaks
}

/** A value as an error message shows it. JSON cannot write a number that is out of range. */
function show(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : stringifyJson(value)
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}
