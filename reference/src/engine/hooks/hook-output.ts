import { parseDocumentInSlices } from '../../wire/json/document.ts'
import { isObject } from '../../wire/json/is-object.ts'
import { JsonSyntaxError } from '../../wire/json/parse.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import { HookFailedError } from './hook-process.ts'

/** What a hook may say before a call, and after it (CT 14.6). */
export interface SaidBefore {
  decision: 'allow' | 'deny'
  reason?: string
  input?: JsonObject
}
export interface SaidAfter {
  output?: string
}

/** Nothing counts as this. */
const allowed: SaidBefore = { decision: 'allow' }

export async function readBefore(bytes: Buffer): Promise<SaidBefore> {
  const said = await objectIn(bytes)
  if (said === undefined) return allowed
  const { decision, reason, input } = said
  if (decision !== 'allow' && decision !== 'deny') throw other('`decision` is neither allow nor deny')
  if (reason !== undefined && typeof reason !== 'string') throw other('`reason` is no text')
  if (input !== undefined && !isObject(input)) throw other('`input` is no object')
  return { decision, ...(reason !== undefined && { reason }), ...(input !== undefined && { input }) }
}

export async function readAfter(bytes: Buffer): Promise<SaidAfter> {
  const { output } = (await objectIn(bytes)) ?? {}
  if (output === undefined) return {}
  if (typeof output !== 'string') throw other('`output` is no text')
  return { output }
}

/** The object that a hook has written. Undefined if it has written nothing but blanks. Rejects with a HookFailedError (S84). */
async function objectIn(bytes: Buffer): Promise<JsonObject | undefined> {
  if (bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d)) return undefined
  let value: unknown
  try {
    value = (await parseDocumentInSlices(bytes)).value
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw other('it is not JSON') // without the cause, which may quote it
  }
  if (!isObject(value)) throw other('it is not an object')
  return value
}

function other(what: string): HookFailedError {
  return new HookFailedError(`its output cannot be used: ${what}`)
}
