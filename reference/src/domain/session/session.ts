import {
  array, boolean, int32, int64From, jsonObject, map, nullable, number, object, oneOf, string, withDefault, type Shape,
} from '../../wire/json/shape.ts'
import type * as contract from '#contract'
import { message, type Message } from '../message/message.ts'
import { recipe } from '../recipe/recipe.ts'
import { dateTime } from '../../wire/date-time.ts'

/** A session (GA 4.7). The shapes below read its members in the order in which they are written. */
export type Session = contract.Session
export type SessionType = contract.SessionType
/** The configuration of a model (GA 4.8). */
export type ModelConfig = contract.ModelConfig

/** A session whose messages are not loaded. */
export type ListedSession = Session & { conversation: null }
/** A session with its messages. */
export type LoadedSession = Session & { conversation: Message[] }

export const sessionTypes = ['user', 'scheduled', 'sub_agent', 'hidden', 'terminal'] as const satisfies SessionType[]

const count = int64From(0)

const modelConfig: Shape<ModelConfig> = object<ModelConfig>({
  model_name: string,
  context_limit: nullable(count),
  temperature: nullable(number),
  max_tokens: nullable(int32),
  toolshim: boolean,
  toolshim_model: nullable(string),
  fast_model: nullable(string),
})

/** Fields that a session may lack in all written forms. */
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

/** The model of a session, in all written forms. */
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

/** An exported session. As in older versions, its name may be in `description`, but not in both fields. */
export const exportedSession: Shape<Session> = (place) => {
  const given = jsonObject(place)
  if (!Object.hasOwn(given, 'description')) return withName(place)
  if (Object.hasOwn(given, 'name') || place.isRepeated(given, 'description')) throw place.error('duplicate field `name`')
  const { description, ...rest } = given
  return withName(place.with({ ...rest, name: description }))
}

/** Compares ids by day, then by the number within the day. Ids of older versions have any form and are compared as texts. */
export function compareIds(a: string, b: string): number {
  const [[dayA = '', numberA], [dayB = '', numberB]] = [a.split('_'), b.split('_')]
  const difference = Number(numberA) - Number(numberB)
  if (dayA === dayB && difference) return difference
  return a === b ? 0 : a < b ? -1 : 1
}
