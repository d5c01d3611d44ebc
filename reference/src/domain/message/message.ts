import { isObject } from '../../wire/json/is-object.ts'
import { boolean, elements, int64, nullable, object, oneOf, string, type Shape } from '../../wire/json/shape.ts'
import type * as contract from '#contract'
import { messageContent, type MessageContent } from './content.ts'

/** A message of a conversation (GA 4.1). The shapes below read its members in the order in which they are written. */
export type Message = contract.Message
export type Role = contract.Role
/** Who sees a message: the person, the model, or both. */
export type Visibility = contract.MessageMetadata

export const visibleToBoth: Visibility = { userVisible: true, agentVisible: true }

const visibility: Shape<Visibility> = object<Visibility>({ userVisible: boolean, agentVisible: boolean })

/** The items of a message. Older servers wrote a notice after a compaction; it is dropped. */
const contents: Shape<MessageContent[]> = (place) =>
  elements(place)
    .filter(({ value }) => !isObject(value) || value.type !== 'conversationCompacted')
    .map(messageContent)

/** A message as clients send it. Its texts are normalised. */
export const message: Shape<Message> = object<Message>({
  id: nullable(string),
  role: oneOf('user', 'assistant'),
  created: int64,
  content: contents,
  metadata: visibility,
})
