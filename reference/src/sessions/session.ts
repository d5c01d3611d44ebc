import { array, boolean, int32, int64From, jsonObject, map, nullable, number, object, oneOf, string, withDefault } from '../json/shape.ts'
import type { Int64, JsonObject, Shape } from '../json/shape.ts'
import { message } from '../message/message.ts'
import type { Message } from '../message/message.ts'
import { recipe } from '../recipe/recipe.ts'
import type { Recipe } from '../recipe/recipe.ts'
import { dateTime } from '../time/date-time.ts'
import type { DateTime } from '../time/date-time.ts'

/** A conversation with what belongs to it, with all its members in the order in which they are written (GA 4.7). */
export interface Session {
  id: string
  working_dir: string
  name: string
  /** A person has named it, so nobody else does. */
  user_set_name: boolean
  session_type: SessionType
  created_at: DateTime
  updated_at: DateTime
  /** What extensions keep, by name and version, such as `todo.v0`. */
  extension_data: JsonObject
  total_tokens: number | null
  input_tokens: number | null
  output_tokens: number | null
  accumulated_total_tokens: number | null
  accumulated_input_tokens: number | null
  accumulated_output_tokens: number | null
  schedule_id: string | null
  recipe: Recipe | null
  user_recipe_values: Record<string, string> | null
  /** Null where it has not been loaded. */
  conversation: Message[] | null
  message_count: number
  provider_name: string | null
  model_config: ModelConfig | null
}

export const sessionTypes = ['user', 'scheduled', 'sub_agent', 'hidden', 'terminal'] as const
export type SessionType = (typeof sessionTypes)[number]

/** How a model is asked (GA 4.8). */
export interface ModelConfig {
  model_name: string
  context_limit: Int64 | null
  temperature: number | null
  max_tokens: number | null
  toolshim: boolean
  toolshim_model: string | null
  fast_model: string | null
}

const count = int64From(0)

export const modelConfig: Shape<ModelConfig> = object<ModelConfig>({
  model_name: string,
  context_limit: nullable(count),
  temperature: nullable(number),
  max_tokens: nullable(int32),
  toolshim: boolean,
  toolshim_model: nullable(string),
  fast_model: nullable(string),
})

/** What a session need not have, in every form in which it is written. */
export const optionalFields = {
  total_tokens: nullable(int32),
  input_tokens: nullable(int32),
  output_tokens: nullable(int32),
  accumulated_total_tokens: nullable(int32),
  accumulated_input_tokens: nullable(int32),
  accumulated_output_tokens: nullable(int32),
  schedule_id: nullable(string),
  recipe: nullable(recipe),
  user_recipe_values: nullable(map(string)),
}

/** The model of a session, in every form in which it is written. */
export const modelFields = { provider_name: nullable(string), model_config: nullable(modelConfig) }

const withName: Shape<Session> = object<Session>({
  id: string,
  working_dir: string,
  name: string,
  user_set_name: withDefault(boolean, false),
  session_type: withDefault(oneOf(...sessionTypes), 'user'),
  created_at: dateTime,
  updated_at: dateTime,
  extension_data: jsonObject,
  ...optionalFields,
  conversation: nullable(array(message)),
  message_count: (place) => Number(count(place)),
  ...modelFields,
})

/** A session that somebody has exported. Its name may be called `description`, as long ago; not both. */
export const exportedSession: Shape<Session> = (place) => {
  const given = jsonObject(place)
  if (!Object.hasOwn(given, 'description')) return withName(place)
  if (Object.hasOwn(given, 'name') || place.isRepeated(given, 'description')) throw place.error('duplicate field `name`')
  const { description, ...rest } = given
  return withName(place.with({ ...rest, name: description }))
}

/** Orders ids by the day, then by the number of that day; those of older versions, which may be anything, as texts. */
export function compareIds(a: string, b: string): number {
  const [[dayA = '', numberA], [dayB = '', numberB]] = [a.split('_'), b.split('_')]
  const difference = Number(numberA) - Number(numberB)
  if (dayA === dayB && difference) return difference
  return a === b ? 0 : a < b ? -1 : 1
}
