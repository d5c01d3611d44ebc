import type { MessageContent } from '../../domain/message/content.ts'
import type { Message } from '../../domain/message/message.ts'
import { SessionDeletedError, type SessionHandle } from '../../store/session-handle.ts'
import { newMessage } from '../../domain/message/new-message.ts'

/** Saves messages. Rejects with a SessionDeletedError if the session is deleted. */
export async function save(session: SessionHandle, messages: readonly Message[]): Promise<void> {
  if (messages.length > 0 && !(await session.addMessages(messages))) throw new SessionDeletedError('the session was deleted')
}

/** The messages that a turn saves at its end. Fragments of one answer become one message, as they do in clients (GA 7.7). */
export class SavedMessages {
  readonly messages: Message[] = []

  /** Adds a piece of the answer with this id. A piece with a null id is never joined. */
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
