import { array, nullable, number, object, oneOf, string, tagged } from '../json/shape.ts'
import type { Shape } from '../json/shape.ts'
import type { Provider } from '../llm/model.ts'
import { ModelError, textOf } from '../llm/model.ts'
import type { Role } from '../message/message.ts'
import { newMessage } from './new-message.ts'

/** What an MCP server asks the model with `sampling/createMessage`, as far as it is looked at (X24). */
export interface SamplingRequest {
  systemPrompt: string | null
  messages: SampledMessage[]
  maxTokens: number
  /** Null leaves it to the config of the model. */
  temperature: number | null
}

interface SampledMessage {
  role: Role
  content: Item[]
}

type Item = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string }

const item = tagged<Item>('type', {
  text: object<Extract<Item, { type: 'text' }>>({ type: oneOf('text'), text: string }),
  image: object<Extract<Item, { type: 'image' }>>({ type: oneOf('image'), data: string, mimeType: string }),
})

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

/** Asks a model for an MCP server (X23). Rejects with a ModelError, or with the reason of the signal. */
export async function sample(provider: Provider | null, request: SamplingRequest, signal: AbortSignal): Promise<SamplingAnswer> {
  if (provider === null) throw new ModelError('Provider not set')
  const { systemPrompt, maxTokens, temperature } = request
  const question = {
    system: systemPrompt ?? '',
    messages: request.messages.map(({ role, content }) => newMessage(role, content)),
    tools: [],
    sampling: { maxTokens, temperature },
  }
  const { content, config } = await provider.complete(question, signal)
  return { role: 'assistant', content: { type: 'text', text: textOf(content) }, model: config.model_name, stopReason: 'endTurn' }
}
