import type { UnreadableQueryText } from '#contract'
import { anyError, type ErrorsOf } from './goose-errors.ts'

/** The parameters of a query in the contract, and whether each is required. */
export type QueryNames<Query> = { [Name in keyof Query]-?: object extends Pick<Query, Name> ? 'optional' : 'required' }

/** The errors that reading a query may cause. */
export interface QueryErrors {
  400: UnreadableQueryText
}

const errors: ErrorsOf<QueryErrors> = anyError

/**
 * The values of query parameters (GA 2.6, G10). Unknown parameters are ignored. Throws if a known parameter is repeated,
 * or a required one is missing.
 */
export function readQuery<Query>(url: string, wanted: QueryNames<Query>): Query {
  const given = new URL(url).searchParams
  const names = Object.keys(wanted)
  const repeated = names.find((name) => given.getAll(name).length > 1)
  if (repeated !== undefined) throw refused(`duplicate field \`${repeated}\``)
  const missing = names.find((name) => wanted[name as keyof Query] === 'required' && !given.has(name)) // `name` is a key of `wanted`
  if (missing !== undefined) throw refused(`missing field \`${missing}\``)
  return Object.fromEntries(names.flatMap((name) => given.getAll(name).map((value) => [name, value]))) as Query // none is missing
}

function refused(reason: string): Error {
  return errors.text(400, `Failed to deserialize query string: ${reason}`)
}
