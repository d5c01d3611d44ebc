import { JsonDocument } from '../../wire/json/document.ts'
import { JsonSyntaxError } from '../../wire/json/parse.ts'
import { readShape, type JsonObject } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { SchemaError, schemaErrorsOf, finalOutputSchema, type FinalOutputSchema } from './json-schema.ts'
import { writtenRecipe, type Recipe } from './recipe.ts'
import { UnreadableRecipeError, readRecipeFile } from './recipe-file.ts'
import { MissingParametersError, renderRecipe } from './render.ts'
import { TemplateError } from './template-error.ts'
import { InvalidRecipeError, validateRecipe } from './validate.ts'

/*
 * The operations on recipes that may take long. They exchange JSON texts, so they can run in another thread. The texts keep the
 * digits of numbers and the order of keys.
 */

/** The input and the result of each task, as JSON. */
export interface Tasks {
  /** Fails if the file does not contain a recipe. */
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
    readRecipeFile(path as string) // a string by the type of Tasks
    return null
  },
  read: ({ path }) => readRecipeFile(path as string), // a string by the type of Tasks
  validate: ({ recipe }) => {
    validateRecipe(readShape(writtenRecipe, recipe))
    return null
  },
  render: ({ recipe, values, library }) =>
    renderRecipe(readShape(writtenRecipe, recipe), values as Record<string, string>, library as string), // by the types of Tasks
  output: ({ schema }) => finalOutputSchema(schema),
  checkOutput: ({ schema, value }) => schemaErrorsOf(schema, value),
}

/** A task to run in the worker thread. */
export interface TaskRequest {
  name: TaskName
  given: string
}

/** The outcome of a task: its result as JSON, or one of the errors that tasks are known to throw. */
export type TaskOutcome = { result: string } | { error: ErrorName; message: string }

const errors = { UnreadableRecipeError, InvalidRecipeError, MissingParametersError, TemplateError, SchemaError }
type ErrorName = keyof typeof errors
const errorNames = Object.keys(errors) as ErrorName[] // it has no other keys

/** Runs a task. The errors that tasks are known to throw become part of the outcome. */
export function perform({ name, given }: TaskRequest): TaskOutcome {
  try {
    return { result: stringifyJson(work[name](new JsonDocument(given).value as JsonObject)) } // `order` has written an object
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

/** The result of a task, in the type that Tasks gives it. Throws the error of a failed task. */
export function resultOf(outcome: TaskOutcome): unknown {
  if ('result' in outcome) return new JsonDocument(outcome.result).value
  throw new errors[outcome.error](outcome.message)
}
