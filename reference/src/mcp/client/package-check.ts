import type { StdioExtension } from '#contract'
import { isObject } from '../../wire/json/is-object.ts'
import type { Settings } from '../../settings/settings.ts'
import { bytesUpTo } from '../../send-request.ts'
import { ExtensionError } from './connection.ts'
import { httpExchange } from './http-fetch.ts'

const defaultEndpoint = 'https://api.osv.dev/v1/query'
const timeLimitMs = 10_000
/** The most bytes of all answers about a package (X10). */
const maxBytes = 4 * 1024 * 1024
const maxPages = 10

/** A package that a command would install and run. */
interface Package {
  name: string
  version: string | undefined
  ecosystem: 'npm' | 'PyPI'
}

/**
 * Asks an advisory database whether the package of a command is malicious (GA 29.3). Throws an ExtensionError if it is. A failed
 * lookup blocks nothing.
 */
export async function checkPackage({ cmd, args }: StdioExtension, settings: Settings, signal: AbortSignal): Promise<void> {
  const wanted = packageOf(cmd, args)
  if (wanted === undefined) return
  const advisories = await malicious(wanted, endpointOf(settings), signal).catch(() => [])
  if (advisories.length === 0) return
  const { name, version = '<any>', ecosystem } = wanted
  const reason = `Blocked malicious package: ${name}@${version} (${ecosystem}). OSV MAL advisories: ${advisories.join('; ')}`
  throw new ExtensionError(`invalid config: ${reason}`)
}

function packageOf(cmd: string, args: readonly string[]): Package | undefined {
  const argument = args.find((one) => !one.startsWith('-'))
  if (argument === undefined) return undefined
  if (cmd.endsWith('npx')) return { ...npmPackage(argument), ecosystem: 'npm' }
  if (cmd.endsWith('uvx')) return { ...divided(argument, '==', argument.indexOf('==')), ecosystem: 'PyPI' }
  return undefined
}

function npmPackage(argument: string): Pick<Package, 'name' | 'version'> {
  const at = argument.startsWith('@') ? argument.lastIndexOf('@') : argument.indexOf('@')
  const { name, version } = divided(argument, '@', at)
  return { name, version: version === 'latest' ? undefined : version }
}

function divided(argument: string, mark: string, at: number): Pick<Package, 'name' | 'version'> {
  if (at <= 0) return { name: argument, version: undefined }
  return { name: argument.slice(0, at), version: argument.slice(at + mark.length) || undefined }
}

function endpointOf(settings: Settings): string {
  const set = settings.variable('OSV_ENDPOINT') ?? ''
  return URL.canParse(set) ? set : defaultEndpoint
}

/** The advisories against a package, in the format of the error. Rejects if they cannot be read. */
async function malicious({ name, version, ecosystem }: Package, endpoint: string, signal: AbortSignal): Promise<string[]> {
  const advisories: string[] = []
  let bytes = 0
  let token: string | undefined
  for (let page = 0; page < maxPages; page++) {
    const text = await asked(endpoint, JSON.stringify({ version, package: { name, ecosystem }, page_token: token }), maxBytes - bytes, signal)
    bytes += Buffer.byteLength(text)
    const answer: unknown = JSON.parse(text)
    if (!isObject(answer)) throw new TypeError('the answer is no object')
    const { vulns = null, next_page_token: next } = answer
    if (vulns !== null && !Array.isArray(vulns)) throw new TypeError('the answer has no list')
    advisories.push(...((vulns ?? []) as unknown[]).flatMap(toldIfMalicious))
    if (typeof next !== 'string' || next === '') return advisories
    token = next
  }
  throw new RangeError('the answer has too many pages')
}

function toldIfMalicious(advisory: unknown): string[] {
  if (!isObject(advisory) || typeof advisory.id !== 'string' || !advisory.id.startsWith('MAL-')) return []
  const { id, summary } = advisory
  return [typeof summary === 'string' && summary !== '' ? `${id} — ${summary}` : id]
}

async function asked(endpoint: string, body: string, room: number, signal: AbortSignal): Promise<string> {
  const over = new AbortController()
  const stop = (): void => {
    over.abort(new Error('no answer'))
  }
  const timer = setTimeout(stop, timeLimitMs)
  try {
    const headers = { 'Content-Type': 'application/json', 'User-Agent': 'goose-osv-check/1.1 (+https://osv.dev)' }
    const { response } = await httpExchange(endpoint, { method: 'POST', headers, body, signal: AbortSignal.any([signal, over.signal]) })
    if (!response.ok) throw new Error(`status ${response.status}`)
    const bytes = await bytesUpTo(room, (response.body ?? []) as AsyncIterable<Uint8Array>)
    if (bytes === undefined) throw new RangeError('the answer is too large')
    return bytes.toString()
  } finally {
    clearTimeout(timer)
    stop() // ends an unfinished download
  }
}
