import { JsonDocument } from '../../wire/json/document.ts'
import { JsonSyntaxError } from '../../wire/json/parse.ts'
import { readShape } from '../../wire/json/shape.ts'
import type { JsonObject } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { SchemaError, schemaErrorsOf, finalOutputSchema } from './json-schema.ts'
import type { FinalOutputSchema } from './json-schema.ts'
import { writtenRecipe } from './recipe.ts'
import type { Recipe } from './recipe.ts'
import { UnreadableRecipeError, readRecipeFile } from './recipe-file.ts'
import { MissingParametersError, renderRecipe } from './render.ts'
import { TemplateError } from './template-error.ts'
import { InvalidRecipeError, validateRecipe } from './validate.ts'

/*
 * What is done with recipes that may take long, as text in and text out: so it can be done in another thread, and keeps its
 * digits and the order of its keys.
 */

/** What each task takes and gives, as JSON. */
export interface Tasks {
  /** Whether a file has a recipe: an error if not. */
  check: { given: { path: string }; result: null }
  read: { given: { path: string }; result: Recipe }
  validate: { given: { recipe: Recipe }; result: null }
  render: { given: { recipe: Recipe; values: Record<string, string>; library: string }; result: Recipe }
  output: { given: { schema: unknown }; result: FinalOutputSchema }
  checkOutput: { given: { schema: unknown; value: unknown }; result: string[] }
}

export type TaskName = keyof Tasks

type Work = { [N in TaskName]: (given: JsonObject) => Tasks[N]['result'] }

const work: Work = {
  check: ({ path }) => {
    readRecipeFile(path as string) // as Tasks has it
    return null
  },
  read: ({ path }) => readRecipeFile(path as string), // as Tasks has it
  validate: ({ recipe }) => {
    validateRecipe(readShape(writtenRecipe, recipe))
    return null
  },
  render: ({ recipe, values, library }) =>
    renderRecipe(readShape(writtenRecipe, recipe), values as Record<string, string>, library as string), // as Tasks has them
  output: ({ schema }) => finalOutputSchema(schema),
  checkOutput: ({ schema, value }) => schemaErrorsOf(schema, value),
}

/** A task for the worker thread. */
export interface TaskRequest {
  name: TaskName
  given: string
}

/** What came of it: JSON, or an error that the task is known to end with. */
export type TaskOutcome = { result: string } | { error: ErrorName; message: string }

const errors = { UnreadableRecipeError, InvalidRecipeError, MissingParametersError, TemplateError, SchemaError }
type ErrorName = keyof typeof errors
const errorNames = Object.keys(errors) as ErrorName[] // it has no others

/** Does a task. Throws nothing that a task is known to end with. */
export function perform({ name, given }: TaskRequest): TaskOutcome {
  try {
    return { result: stringifyJson(work[name](new JsonDocument(given).value as JsonObject)) } // as `order` has made it
  } catch (error) {
    if (error instanceof RangeError || error instanceof JsonSyntaxError) return limitExceeded(name, 'it is nested too deep')
    const known = errorNames.find((one) => error instanceof errors[one])
    if (known === undefined || !(error instanceof Error)) throw error
    return { error: known, message: error.message }
  }
}

/** The outcome of a task that exceeds its limits. */
export function limitExceeded(name: TaskName, message: string): TaskOutcome {
  const errorOf = {
    check: 'UnreadableRecipeError',
    read: 'UnreadableRecipeError',
    validate: 'InvalidRecipeError',
    render: 'TemplateError',
    output: 'SchemaError',
    checkOutput: 'SchemaError',
  } as const
  return { error: errorOf[name], message }
}

export function taskRequest<N extends TaskName>(name: N, given: Tasks[N]['given']): TaskRequest {
  return { name, given: stringifyJson(given) }
}

/** The result of a task, of the type that Tasks has for it, or its error. */
export function resultOf(outcome: TaskOutcome): unknown {
  if ('result' in outcome) return new JsonDocument(outcome.result).value
  throw new errors[outcome.error](outcome.message)
}
