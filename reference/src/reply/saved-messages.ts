import type { MessageContent } from '../message/content.ts'
import type { Message } from '../message/message.ts'
import { SessionGoneError } from '../store/own-session.ts'
import type { OwnSession } from '../store/own-session.ts'
import { newMessage } from './new-message.ts'

/** Saves messages. Rejects with a SessionGoneError when there is no session any more to save them in. */
export async function save(session: OwnSession, messages: readonly Message[]): Promise<void> {
  if (messages.length > 0 && !(await session.addMessages(messages))) throw new SessionGoneError('the session was deleted')
}

/** What a turn will have saved when it is over: fragments of one answer become one message, as clients join them (GA 7.7). */
export class SavedMessages {
  readonly messages: Message[] = []

  /** Adds a piece of an answer with this id; null joins with nothing. */
  addPiece(id: string | null, content: readonly MessageContent[]): void {
    if (content.length === 0) return
    const last = this.messages.at(-1)
    if (last === undefined || id === null || last.id !== id) {
      this.messages.push(newMessage('assistant', [...content], undefined, id))
      return
    }
    const [item, ...others] = content
    const end = last.content.at(-1)
    if (item?.type === 'text' && others.length === 0 && end?.type === 'text') {
      last.content[last.content.length - 1] = { ...end, text: end.text + item.text }
    } else {
      last.content.push(...content)
    }
  }

  add(...messages: Message[]): void {
    this.messages.push(...messages)
  }
}
