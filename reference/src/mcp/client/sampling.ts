import { array, nullable, number, object, oneOf, string, tagged, type Shape } from '../../wire/json/shape.ts'
import type { Role } from '../../domain/message/message.ts'

/** The parts of `sampling/createMessage` that this server reads: an MCP server's request to the model (X24). */
export interface SamplingRequest {
  systemPrompt: string | null
  messages: SampledMessage[]
  maxTokens: number
  /** Null means the temperature in the model's config. */
  temperature: number | null
}

interface SampledMessage {
  role: Role
  content: Item[]
}

type Item = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string }

const item = tagged<Item, 'type'>('type', { text: { text: string }, image: { data: string, mimeType: string } })

/** One item, or a list of them. */
const items: Shape<Item[]> = (place) => (Array.isArray(place.value) ? array(item)(place) : [item(place)])

const messages: Shape<SampledMessage[]> = (place) => {
  const list = array(object<SampledMessage>({ role: oneOf('user', 'assistant'), content: items }))(place)
  if (list.length === 0) throw place.error('there is no message')
  return list
}

const tokenCount: Shape<number> = (place) => {
  const count = number(place)
  if (!Number.isInteger(count) || count < 1 || count > 2 ** 31 - 1) throw place.error('invalid value: integer out of range')
  return count
}

export const samplingRequest: Shape<SamplingRequest> = object<SamplingRequest>({
  systemPrompt: nullable(string),
  messages,
  maxTokens: tokenCount,
  temperature: nullable(number),
})

/** The result of `sampling/createMessage` (X25). */
export interface SamplingAnswer {
  role: 'assistant'
  content: { type: 'text'; text: string }
  model: string
  stopReason: 'endTurn'
}
