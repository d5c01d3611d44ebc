import { join } from 'node:path'
import { isMissing } from './error-code.ts'
import { maxTimeout } from './handlers/client-tools/executions.ts'
import { isObject } from './wire/json/is-object.ts'
import { parseJson } from './wire/json/parse.ts'
import { stringifyJson } from './wire/json/stringify.ts'

/** A value that cannot be used: where it comes from, what it is, and what it should be. */
export interface Problem {
  where: string
  what: string
}

const atLeastOne = 'it must be a whole number, at least 1'
export const atLeastOneMillisecond = 'it must be a whole number of milliseconds, at least 1'

export type ReadFile = (path: string) => Promise<Uint8Array>

/** The settings that the configuration file may contain (CT 9.2, 9.3). */
interface FileSettings {
  defaultTimeout?: number
  keepaliveInterval?: number
  maxTools?: number
  maxClients?: number
}

/** The type of each key, and the largest value that makes a difference. */
const keys = {
  defaultTimeout: { rule: atLeastOneMillisecond, most: maxTimeout },
  keepaliveInterval: { rule: atLeastOneMillisecond, most: maxTimeout },
  maxTools: { rule: atLeastOne, most: Infinity },
  maxClients: { rule: atLeastOne, most: Infinity },
} satisfies Record<keyof FileSettings, { rule: string; most: number }>

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
  const { clientTools = {} } = json
  if (!isObject(clientTools)) return complain(`clientTools is ${show(clientTools)}; it must be an object`)

  const settings: FileSettings = {}
  for (const key of Object.keys(keys) as (keyof FileSettings)[]) {
    const { rule, most } = keys[key]
    const value = clientTools[key]
    if (value === undefined) continue
    if (isAtLeastOne(value)) settings[key] = Math.min(value, most)
    else complain(`clientTools.${key} is ${show(value)}; ${rule}`)
  }
  return settings
}

function isAtLeastOne(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1
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
