import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { AnySchema } from 'ajv'

/*
 * JSON Schema, as recipes use it to say what an answer has to look like. Without `$schema` it is draft 2020-12.
 */

const options = { strict: false, allErrors: false, validateFormats: false, logger: false } as const

/** What is wrong with a schema; undefined when nothing is. */
export function schemaProblem(schema: unknown): string | undefined {
  try {
    compile(schema)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Whether a value is what a schema wants. Throws when the schema is none. */
export function matchesSchema(schema: unknown, value: unknown): boolean {
  return compile(schema)(plain(value))
}

function compile(schema: unknown): (value: unknown) => boolean {
  if (typeof schema !== 'boolean' && (typeof schema !== 'object' || schema === null || Array.isArray(schema))) {
    throw new Error('a schema is an object or a boolean')
  }
  const known = plain(schema) as AnySchema // an object or a boolean, as was just seen
  const validate = compilerFor(known)(known)
  return (value) => validate(value) === true
}

type Compiler = (schema: AnySchema) => (value: unknown) => unknown

/** A new validator each time, because one remembers every schema with an `$id`. */
function compilerFor(schema: AnySchema): Compiler {
  const draft = typeof schema === 'object' && typeof schema.$schema === 'string' ? schema.$schema : ''
  if (draft.includes('draft-07') || draft.includes('draft-06')) return (draft7) => new Ajv(options).compile(draft7)
  if (draft.includes('2019-09')) return (draft2019) => new Ajv2019(options).compile(draft2019)
  return (draft2020) => new Ajv2020(options).compile(draft2020)
}

/** The value without numbers that only JSON can write. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown // `any` by its declaration
}
