import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { AnySchema, AnyValidateFunction } from 'ajv/dist/types/index.js'
import { isObject } from '../../wire/json/is-object.ts'
import { JsonNumber } from '../../wire/json/number.ts'
import { mapLeaves } from '../../wire/json/map-leaves.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import { prettyJson, stringifyJson } from '../../wire/json/stringify.ts'
import { brokenRule, schemasIn } from './schema-rules.ts'
import { compareBytes } from '../../text/compare-bytes.ts'

/*
 * JSON Schema, with which recipes describe what a final output looks like. Without `$schema` it is draft 2020-12.
 */

/** A schema is not valid, or a schema or a value is too large to be checked (G28, G35). */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
}

/** The schema that a final output has to match, and the text that models see (M34). */
export interface FinalOutputSchema {
  schema: JsonObject
  shown: string
}

const options = { strict: false, allErrors: true, validateFormats: false, logger: false } as const

/** Throws a SchemaError if the value is not a valid schema. */
export function checkSchema(schema: unknown): void {
  compile(schema)
}

/** The schema of a final output. Throws a SchemaError if it is empty or not valid (G16). */
export function finalOutputSchema(schema: unknown): FinalOutputSchema {
  if (!isObject(schema) || Object.keys(schema).length === 0) throw new SchemaError('the schema of the output is missing')
  checkSchema(schema)
  const pretty = prettyJson(schema)
  return { schema, shown: Buffer.byteLength(pretty) > maxShown ? stringifyJson(schema) : pretty }
}

/** The errors of a value, as lines `- <path>: <reason>`; empty if the value matches the schema (M34). Throws a SchemaError. */
export function schemaErrorsOf(schema: unknown, value: unknown): string[] {
  const validate = compile(schema)
  if (isDeeper(value, maxLevels)) return [`- : the value has more than ${maxLevels} levels`]
  const faults = largeNumbers(value)
  if (faults.length === 0) {
    if (validate(plain(value)) === true) return []
    faults.push(...(validate.errors ?? []).map(({ instancePath, message = '' }) => ({ path: instancePath, reason: message })))
  }
  faults.sort((a, b) => compareBytes(a.path, b.path))
  const lines = faults.slice(0, maxFaults).map(({ path, reason }) => `- ${truncate(path)}: ${truncate(reason)}`)
  return faults.length > maxFaults ? [...lines, `- ${faults.length - maxFaults} more`] : lines
}

/** An error at one place of a value. The place is a JSON Pointer (RFC 6901). */
interface Fault {
  path: string
  reason: string
}

const maxFaults = 20
/** The most bytes of a schema (G35), and of the pretty form that models see. */
export const maxSchema = 256 * 1024
const maxShown = 64 * 1024
/** The most levels of a schema (G35), and of a value to check (G28). */
export const maxLevels = 200
const maxText = 1000

function truncate(text: string): string {
  return text.length > maxText ? `${text.slice(0, maxText).replace(/\p{Surrogate}$/u, '')}...` : text
}

function compile(schema: unknown): AnyValidateFunction {
  if (typeof schema !== 'boolean' && !isObject(schema)) throw new SchemaError('a schema is an object or a boolean')
  if (isDeeper(schema, maxLevels)) throw new SchemaError(`a schema has at most ${maxLevels} levels`)
  if (Buffer.byteLength(stringifyJson(schema)) > maxSchema) throw new SchemaError('a schema has at most 256 KiB')
  if (largeNumbers(schema).length > 0) throw new SchemaError('a number is too large')
  const known = plain(schema) as AnySchema // an object or a boolean, as the check above shows
  if (typeof known === 'object') delete known.$async // a keyword of the validator, which would make it return promises
  for (const one of schemasIn(known)) {
    const broken = brokenRule(one)
    if (broken !== undefined) throw new SchemaError(broken)
    // The validator resolves a schema that is only a reference at once. It never stops if the reference points to itself.
    if (typeof one.$ref === 'string') one.allOf ??= [true]
  }
  try {
    return ajvFor(known).compile(known)
  } catch (cause) {
    throw new SchemaError(cause instanceof Error ? truncate(cause.message) : 'not a schema', { cause })
  }
}

export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return false
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1))
}

/** Makes a new validator each time, because a validator remembers every schema with an `$id`. */
function ajvFor(schema: AnySchema): Pick<Ajv, 'compile'> {
  const draft = typeof schema === 'object' && typeof schema.$schema === 'string' ? schema.$schema : ''
  if (draft.includes('draft-07') || draft.includes('draft-06')) return new Ajv(options)
  const ajv = draft.includes('2019-09') ? new Ajv2019(options) : new Ajv2020(options)
  // Only the `unevaluated…` keywords require `anyOf` to check the schemas after the first one that matches.
  ajv.opts.unevaluated = JSON.stringify(schema).includes('"unevaluated')
  return ajv
}

/** Reports the numbers in a value that are too large to be checked (G28). */
function largeNumbers(value: unknown): Fault[] {
  const faults: Fault[] = []
  const open = [{ path: '', value }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value: one } = next
    if (one instanceof JsonNumber) {
      if (isLarge(one.text)) faults.push({ path, reason: 'the number is too large' })
    } else if (typeof one === 'object' && one !== null) {
      for (const [key, member] of Object.entries(one)) {
        open.push({ path: `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, value: member })
      }
    }
  }
  return faults
}

/** Whether a number has more than 1,000 digits, or an exponent beyond 1,000. */
function isLarge(text: string): boolean {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  return whole.length + fraction.length > 1000 || Math.abs(Number(exponent)) > 1000
}

/** The value with plain numbers, which the validator can read: each is the nearest double. */
function plain(value: unknown): unknown {
  return mapLeaves(value, (leaf) =>
    leaf instanceof JsonNumber || typeof leaf === 'bigint' ? Math.min(Math.max(Number(leaf), -Number.MAX_VALUE), Number.MAX_VALUE) : leaf,
  )
}
