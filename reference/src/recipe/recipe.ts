import { recipeExtension } from '../extensions/config.ts'
import type { ExtensionConfig } from '../extensions/config.ts'
import { JsonNumber } from '../json/number.ts'
import { objectOf } from '../json/ordered.ts'
import {
  anything, array, boolean, int64From, integer, jsonObject, nullable, number, object, omittable, oneOf, string, withDefault,
} from '../json/shape.ts'
import type { Field, Int64, Shape } from '../json/shape.ts'
import { stringifyJson } from '../json/stringify.ts'

/** A recipe; what it does not have is left out (GA 4.10). */
export interface Recipe {
  version: string
  title: string
  description: string
  instructions?: string
  prompt?: string
  extensions?: ExtensionConfig[]
  settings?: RecipeSettings
  activities?: string[]
  author?: Author
  parameters?: RecipeParameter[]
  response?: RecipeResponse
  sub_recipes?: SubRecipe[]
  retry?: RetryConfig
}

export interface RecipeSettings {
  goose_provider?: string
  goose_model?: string
  temperature?: number
}

export interface Author {
  contact?: string
  metadata?: string
}

export interface RecipeParameter {
  key: string
  input_type: 'string' | 'number' | 'boolean' | 'date' | 'file' | 'select'
  requirement: 'required' | 'optional' | 'user_prompt'
  description: string
  default?: string
  options?: string[]
}

export interface RecipeResponse {
  /** Any JSON; validation says whether it is a schema. */
  json_schema?: unknown
}

export interface SubRecipe {
  name: string
  path: string
  values: Record<string, string> | null
  sequential_when_repeated: boolean
  description?: string
}

export interface RetryConfig {
  max_retries: number
  checks: SuccessCheck[]
  on_failure?: string
  timeout_seconds?: Int64
  on_failure_timeout_seconds?: Int64
}

export interface SuccessCheck {
  type: 'Shell'
  command: string
}

/** The values of a sub-recipe are texts; what is none is taken as its JSON. */
const textValues: Shape<Record<string, string>> = (place) =>
  objectOf(Object.entries(jsonObject(place)).map(([name, value]) => [name, asText(value)])) as Record<string, string>

function asText(value: unknown): string {
  if (typeof value === 'string') return value
  return value instanceof JsonNumber ? value.text : stringifyJson(value)
}

const shell: Shape<'Shell'> = (place) => {
  oneOf('Shell', 'shell')(place)
  return 'Shell'
}

/** A retry whose numbers are at least this. */
function retryFrom(min: 0 | 1): Shape<RetryConfig> {
  return object<RetryConfig>({
    max_retries: integer(min, 2 ** 31 - 1),
    checks: array(object<SuccessCheck>({ type: shell, command: string })),
    on_failure: omittable(string),
    timeout_seconds: omittable(int64From(min)),
    on_failure_timeout_seconds: omittable(int64From(min)),
  })
}

/** The fields of a recipe but for the last one. */
const fields: { [K in Exclude<keyof Recipe, 'retry'>]-?: Field<Exclude<Recipe[K], undefined>> } = {
  version: withDefault(string, '1.0.0'),
  title: string,
  description: string,
  instructions: omittable(string),
  prompt: omittable(string),
  extensions: omittable(array(recipeExtension)),
  settings: omittable(
    object<RecipeSettings>({
      goose_provider: omittable(string),
      goose_model: omittable(string),
      temperature: omittable(number),
    }),
  ),
  activities: omittable(array(string)),
  author: omittable(object<Author>({ contact: omittable(string), metadata: omittable(string) })),
  parameters: omittable(
    array(
      object<RecipeParameter>({
        key: string,
        input_type: oneOf('string', 'number', 'boolean', 'date', 'file', 'select'),
        requirement: oneOf('required', 'optional', 'user_prompt'),
        description: string,
        default: omittable(string),
        options: omittable(array(string)),
      }),
    ),
  ),
  response: omittable(object<RecipeResponse>({ json_schema: omittable(anything) })),
  sub_recipes: omittable(
    array(
      object<SubRecipe>({
        name: string,
        path: string,
        values: nullable(textValues),
        sequential_when_repeated: withDefault(boolean, false),
        description: omittable(string),
      }),
    ),
  ),
}

/** A recipe in a body. */
export const recipe: Shape<Recipe> = object<Recipe>({ ...fields, retry: omittable(retryFrom(1)) })

/** A recipe of a file or a link, where validation says what is wrong with a retry of 0 (G6, G21). */
export const writtenRecipe: Shape<Recipe> = object<Recipe>({ ...fields, retry: omittable(retryFrom(0)) })
