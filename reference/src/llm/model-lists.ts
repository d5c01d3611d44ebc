import { compareBytes } from '../text/compare-bytes.ts'
import { isObject } from '../wire/json/is-object.ts'
import { failureOf, jsonIn } from './failures.ts'
import { get, type Endpoint, type HttpAnswer } from './http-call.ts'
import { ModelError } from './model.ts'
import { elements, member } from './model-protocol.ts'
import { withRetries } from './retry.ts'

/** A status for a list that a provider does not give. 200 stands for an empty list. */
export type NoListStatus = 200 | 400 | 429 | 500

/** How to read a provider's list of models, and what its failures mean (GA 10.20). */
export interface ListRule {
  /** The member with the array. */
  at: 'data' | 'models'
  /** The name of a model; undefined if it is not listed. */
  name: (item: unknown) => string | undefined
  isUnsorted?: true
  isRetried?: true
  noConnection: NoListStatus
  status: (status: number, isJson: boolean) => NoListStatus
  notJson: NoListStatus
  /** For a body with `error`. Without it, `error` plays no part. */
  error?: NoListStatus
  noArray: NoListStatus
}

function textOf(item: unknown, key: string): string | undefined {
  const text = member(item, key)
  return typeof text === 'string' ? text : undefined
}

function idOf(item: unknown): string | undefined {
  return textOf(item, 'id')
}

const byStatus = (status: number): NoListStatus => {
  if (status === 401 || status === 403) return 400
  return status === 429 ? 429 : 500
}

const always =
  <T>(value: T) =>
  (): T =>
    value

const openAi: ListRule = { at: 'data', name: idOf, isRetried: true, noConnection: 500, status: byStatus, notJson: 500, error: 400, noArray: 400 }

const router = (isListed: (item: unknown) => boolean): ListRule => ({
  at: 'data',
  name: (item) => (isListed(item) ? idOf(item) : undefined),
  noConnection: 200,
  status: always(200),
  notJson: 200,
  error: 200,
  noArray: 400,
})

/** The rules by the names of the providers. Without a rule, a provider is not asked. */
export const listRules = {
  openai: openAi,
  anthropic: { at: 'data', name: idOf, noConnection: 500, status: byStatus, notJson: 500, noArray: 200 },
  google: {
    at: 'models',
    name: (item) => textOf(item, 'name')?.replace(/^.*\//s, ''),
    noConnection: 500,
    status: (_status, isJson) => (isJson ? 200 : 500),
    notJson: 500,
    noArray: 200,
  },
  openrouter: router((item) => elements(member(item, 'supported_parameters')).includes('tools')),
  tetrate: router((item) => member(item, 'supports_computer_use') === true),
  litellm: {
    at: 'data',
    name: (item) => {
      const name = textOf(item, 'model_name')
      return name?.endsWith('/*') === true ? undefined : name
    },
    isUnsorted: true,
    noConnection: 200,
    status: always(200),
    notJson: 200,
    noArray: 200,
  },
  venice: { at: 'data', name: veniceName, noConnection: 500, status: always(500), notJson: 500, noArray: 500 },
  ollama: { at: 'models', name: (item) => textOf(item, 'name'), noConnection: 500, status: always(500), notJson: 500, noArray: 500 },
} satisfies Record<string, ListRule>

/** The letters that the list of Venice shows for what a model can do. */
const veniceFlags = {
  c: 'optimizedForCode', v: 'supportsVision', f: 'supportsFunctionCalling', s: 'supportsResponseSchema', w: 'supportsWebSearch', r: 'supportsReasoning',
}

function veniceName(item: unknown): string | undefined {
  const able = member(member(item, 'model_spec'), 'capabilities')
  const flags = Object.entries(veniceFlags).flatMap(([letter, ability]) => (member(able, ability) === true ? [letter] : []))
  const id = idOf(item)
  return id === undefined || !flags.includes('f') ? undefined : `${id} [${flags.join('')}]`
}

/** The list of a provider, or what there is instead, and why. The reason quotes nothing of an answer (G59). */
export type Listed = { models: string[] } | { instead: NoListStatus; why: string }

/** The most bytes of a list (G59). */
const maxListBytes = 16 * 1024 * 1024

/** Asks for a list. Rejects only with the reason of the signal. */
export async function askForModels(endpoint: Endpoint, rule: ListRule, backoff: boolean, signal: AbortSignal): Promise<Listed> {
  let last: Answered | undefined
  const attempt = async (): Promise<{ result: Answered } | { failure: ReturnType<typeof failureOf> }> => {
    last = undefined
    const answer = await get(endpoint, signal)
    last = { status: answer.status, bytes: await bytesOf(answer) }
    const isGood = (answer.status >= 200 && answer.status < 300) || rule.isRetried !== true
    return isGood ? { result: last } : { failure: failureOf(answer.status, last.bytes ?? Buffer.alloc(0)) }
  }
  try {
    return read(await withRetries(attempt, backoff, signal), rule)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof ModelError)) throw error
    return last === undefined ? { instead: rule.noConnection, why: 'no answer' } : read(last, rule)
  }
}

/** An answer. Its bytes are undefined if there are too many. */
interface Answered {
  status: number
  bytes: Buffer | undefined
}

async function bytesOf(answer: HttpAnswer): Promise<Buffer | undefined> {
  const bytes = await answer.start(maxListBytes + 1)
  return bytes.length > maxListBytes ? undefined : bytes
}

function read({ status, bytes }: Answered, rule: ListRule): Listed {
  const body = bytes === undefined ? undefined : jsonIn(bytes)
  if (status < 200 || status >= 300) return { instead: rule.status(status, body !== undefined), why: `status ${status}` }
  if (body === undefined) return { instead: rule.notJson, why: 'the answer is not JSON' }
  if (rule.error !== undefined && isObject(body) && (body.error ?? null) !== null) return { instead: rule.error, why: 'the answer has an error' }
  const items = member(body, rule.at)
  if (!Array.isArray(items)) return { instead: rule.noArray, why: 'the answer has no list' }
  const names = elements(items).flatMap((item) => rule.name(item) ?? [])
  return { models: rule.isUnsorted === true ? names : names.sort(compareBytes) }
}
