import { isObject } from '../json/is-object.ts'
import { boolean, elements, int64, nullable, object, oneOf, string } from '../json/shape.ts'
import type { Int64, Shape } from '../json/shape.ts'
import { messageContent } from './content.ts'
import type { MessageContent } from './content.ts'

/** A message of a conversation, with its members in the order in which they are written (GA 4.1). */
export interface Message {
  id: string | null
  role: Role
  /** Seconds since 1970. */
  created: Int64
  content: MessageContent[]
  metadata: Visibility
}

export type Role = 'user' | 'assistant'

/** Who gets to see a message: the person, the model, or both. */
export interface Visibility {
  userVisible: boolean
  agentVisible: boolean
}

export const visibleToBoth: Visibility = { userVisible: true, agentVisible: true }

const visibility: Shape<Visibility> = object<Visibility>({ userVisible: boolean, agentVisible: boolean })

/** The items of a message. Notices that a conversation was compacted, which older servers wrote, are dropped. */
const contents: Shape<MessageContent[]> = (place) =>
  elements(place)
    .filter(({ value }) => !isObject(value) || value.type !== 'conversationCompacted')
    .map(messageContent)

/** A message as clients send it; its texts are normalised. */
export const message: Shape<Message> = object<Message>({
  id: nullable(string),
  role: oneOf('user', 'assistant'),
  created: int64,
  content: contents,
  metadata: visibility,
})
