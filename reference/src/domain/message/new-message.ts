import { randomUUID } from 'node:crypto'
import type { ContentOf, MessageContent } from './content.ts'
import { visibleToBoth, type Message, type Role, type Visibility } from './message.ts'

export function nowInSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

/** A message that the engine itself makes. Most of them have no id, so they are never joined with others (GA 7.7). */
export function newMessage(role: Role, content: MessageContent[], metadata: Visibility = visibleToBoth, id: string | null = null): Message {
  return { id, role, created: nowInSeconds(), content, metadata }
}

export function textMessage(role: Role, text: string): Message {
  return newMessage(role, [{ type: 'text', text }])
}

/** A notice for the person, which the model does not see (GA 7.10). */
export function notice(type: ContentOf<'systemNotification'>['notificationType'], msg: string): Message {
  return newMessage('assistant', [{ type: 'systemNotification', notificationType: type, msg }])
}

export function newMessageId(): string {
  return `msg_${randomUUID()}`
}
