import { Ajv, type Options } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { AnyValidateFunction, ErrorObject } from 'ajv/dist/types/index.js'
import { isDeeper, maxLevels, maxSchema } from '../../domain/recipe/json-schema.ts'
import { brokenRule, schemasIn } from '../../domain/recipe/schema-rules.ts'
import { compareBytes } from '../../text/compare-bytes.ts'
import { truncate } from '../../text/truncate.ts'
import { isObject } from '../../wire/json/is-object.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { TooSlowError, limited } from './time-limit.ts'

/** The schema of a tool cannot be used, so it does not constrain its input (CT 10.4). */
export class UnusableSchemaError extends Error {
  override readonly name = 'UnusableSchemaError'
}

/** The violations of an input, one line each; empty if it matches. */
export type InputCheck = (input: unknown) => string[]

/** How long a schema may take to compile, and an input to validate. */
const maxMs = 100
const maxSubschemas = 1000
const maxLines = 20
const maxLineBytes = 1000

const options: Options = { strict: false, allErrors: true, validateFormats: false, logger: false }

type Validator = Pick<Ajv, 'compile' | 'errorsText' | 'opts' | 'validateSchema'>

/** Makes validators of a draft, and checks whether a schema is valid in it. */
class Draft {
  readonly #make: (options: Options) => Validator
  #meta: Validator | undefined

  constructor(make: (options: Options) => Validator) {
    this.#make = make
  }

  /** Prepares the check of schemas, which takes much longer than the check of one. */
  prepare(): Validator {
    if (this.#meta !== undefined) return this.#meta
    this.#meta = this.#make(options)
    void this.#meta.validateSchema({})
    return this.#meta
  }

  /** A new validator each time, because a validator remembers every schema with an `$id`. It knows no other schema (CT 10.4). */
  compile(schema: Record<string, unknown>): AnyValidateFunction {
    const meta = this.prepare()
    if (meta.validateSchema(schema) !== true) throw new UnusableSchemaError(meta.errorsText())
    const ajv = this.#make({ ...options, meta: false, validateSchema: false })
    // Only the `unevaluated…` keywords require `anyOf` to check the schemas after the first one that matches.
    ajv.opts.unevaluated &&= JSON.stringify(schema).includes('"unevaluated')
    return ajv.compile(schema)
  }
}

const latest = 'https://json-schema.org/draft/2020-12/schema'
const drafts = new Map([
  ['http://json-schema.org/draft-07/schema', new Draft((options) => new Ajv(options))],
  ['https://json-schema.org/draft/2019-09/schema', new Draft((options) => new Ajv2019(options))],
  [latest, new Draft((options) => new Ajv2020(options))],
])

/** Compiles the parameters of a tool. Throws an UnusableSchemaError. */
export function compileParameters(parameters: Record<string, unknown>): InputCheck {
  if (Object.keys(parameters).length === 0) return () => []
  if (isDeeper(parameters, maxLevels)) throw new UnusableSchemaError(`there are more than ${maxLevels} levels`)
  if (Buffer.byteLength(stringifyJson(parameters)) > maxSchema) throw new UnusableSchemaError('it has more than 256 KiB')
  const schema = structuredClone(parameters)
  delete schema.$async // a keyword of the validator, which would make it return promises
  checkSchema(schema)
  const { $schema = latest } = schema
  const draft = typeof $schema === 'string' ? drafts.get($schema.replace(/#$/, '')) : undefined
  if (draft === undefined) throw new UnusableSchemaError('$schema names an unknown draft')
  delete schema.$schema // the draft is known, and the validator needs no schema of schemas
  const validate = compile(draft, schema)
  return (input) => violations(validate, input)
}

function checkSchema(schema: Record<string, unknown>): void {
  let count = 0
  for (const one of schemasIn(schema)) {
    if (++count > maxSubschemas) throw new UnusableSchemaError(`there are more than ${maxSubschemas} schemas`)
    const broken = brokenRule(one)
    if (broken !== undefined) throw new UnusableSchemaError(broken)
    const patterns = [one.pattern, ...(isObject(one.patternProperties) ? Object.keys(one.patternProperties) : [])]
    if (patterns.some((pattern) => typeof pattern === 'string' && unsafe.test(pattern.replace(/\\\\/g, '')))) {
      throw new UnusableSchemaError('a pattern is not one of RE2')
    }
    // The validator resolves a schema that is only a reference at once. It never stops if the reference points to itself.
    if (typeof one.$ref === 'string') one.allOf ??= [true]
  }
}

/** What JavaScript has and RE2 does not: looking around, referring back, and escapes for UTF-16 units and control characters. */
const unsafe = /\(\?(?:[=!]|<[=!])|\\[1-9ku]|\\c[A-Za-z]/

function compile(draft: Draft, schema: Record<string, unknown>): AnyValidateFunction {
  draft.prepare()
  // On a busy machine, or when the validator runs for the first time, a small schema may be slow too.
  for (let attempt = 1; ; attempt++) {
    try {
      return limited(maxMs, () => draft.compile(schema))
    } catch (cause) {
      if (cause instanceof TooSlowError && attempt < 3) continue
      throw new UnusableSchemaError(cause instanceof Error ? cause.message : 'not a schema', { cause })
    }
  }
}

function violations(validate: AnyValidateFunction, input: unknown): string[] {
  try {
    if (limited(maxMs, () => validate(input)) === true) return []
  } catch (error) {
    // An input that is too deep for the stack counts as one that takes too long.
    if (error instanceof TooSlowError || error instanceof RangeError) return ['validation took too long']
    throw error
  }
  const faults = (validate.errors ?? []).map(faultOf).sort((a, b) => compareBytes(a.pointer, b.pointer))
  return faults.slice(0, maxLines).map(({ pointer, reason }) => oneLine(`${pointer || 'input'}: ${reason}`))
}

function faultOf({ instancePath, message = 'is not valid' }: ErrorObject): { pointer: string; reason: string } {
  return { pointer: instancePath, reason: message }
}

function oneLine(text: string): string {
  return truncate(text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' '), maxLineBytes)
}
