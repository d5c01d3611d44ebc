import { recipeExtension } from '../extension/config.ts'
import { JsonNumber } from '../../wire/json/number.ts'
import { objectOf } from '../../wire/json/ordered.ts'
import {
  anything, array, boolean, int64From, integer, jsonObject, nullable, number, object, omittable, oneOf, string, withDefault,
  type Fields, type Shape,
} from '../../wire/json/shape.ts'
import type * as contract from '#contract'
import { stringifyJson } from '../../wire/json/stringify.ts'

/** A recipe. Fields that it does not have are omitted (GA 4.10). */
export type Recipe = contract.Recipe
export type RecipeResponse = contract.Response
export type SubRecipe = contract.SubRecipe
export type RetryConfig = contract.RetryConfig
export type RecipeParameter = contract.RecipeParameter

/** The values of a sub-recipe, which are texts. Any other value becomes its JSON text. */
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

/** A retry whose numbers are at least `min`. */
function retryFrom(min: 0 | 1): Shape<RetryConfig> {
  return object<RetryConfig>({
    max_retries: integer(min, 2 ** 31 - 1),
    checks: array(object<contract.SuccessCheck>({ type: shell, command: string })),
    on_failure: omittable(string),
    timeout_seconds: omittable(int64From(min)),
    on_failure_timeout_seconds: omittable(int64From(min)),
  })
}

/** All fields of a recipe except `retry`. */
const fields: Fields<Omit<Recipe, 'retry'>> = {
  version: withDefault(string, '1.0.0'),
  title: string,
  description: string,
  instructions: omittable(string),
  prompt: omittable(string),
  extensions: omittable(array(recipeExtension)),
  settings: omittable(
    object<contract.Settings>({
      goose_provider: omittable(string),
      goose_model: omittable(string),
      temperature: omittable(number),
    }),
  ),
  activities: omittable(array(string)),
  author: omittable(object<contract.Author>({ contact: omittable(string), metadata: omittable(string) })),
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

/** A recipe in a request body. */
export const recipe: Shape<Recipe> = object<Recipe>({ ...fields, retry: omittable(retryFrom(1)) })

/** A recipe in a file or a link. It may have a retry of 0, which validation then reports (G6, G21). */
export const writtenRecipe: Shape<Recipe> = object<Recipe>({ ...fields, retry: omittable(retryFrom(0)) })
