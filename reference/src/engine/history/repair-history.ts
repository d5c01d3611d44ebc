import type { MessageContent } from '../../domain/message/content.ts'
import { visibleToBoth, type Message } from '../../domain/message/message.ts'
import { trimmedEnd } from '../../text/white-space.ts'
import { nowInSeconds } from '../../domain/message/new-message.ts'

/*
 * Models reject malformed conversations, and people edit, fork and interrupt them. This implements M18. The stored conversation
 * does not change (GA 18.2).
 */

/** The conversation as a model gets it: it begins and ends with the user, and every call has a result. */
export function repairHistory(conversation: readonly Message[]): Message[] {
  let messages = conversation
    .filter(({ metadata }) => metadata.agentVisible)
    .map((message) => ({ ...message, content: message.content.filter(({ type }) => isForModels(type, message.role)) }))
  for (let before = ''; before !== shapeOf(messages); ) {
    before = shapeOf(messages)
    messages = repairOnce(messages)
  }
  return messages.length > 0 ? messages : [placeholder()]
}

function placeholder(): Message {
  return { id: null, role: 'user', created: nowInSeconds(), content: [{ type: 'text', text: 'Hello' }], metadata: visibleToBoth }
}

/** A measure that every change of a repair makes smaller. Two equal values mean that nothing changed. */
function shapeOf(messages: readonly Message[]): string {
  const sizes = messages.map(({ content }) => content.reduce((sum, item) => sum + (item.type === 'text' ? item.text.length : 0), 0))
  return [messages.length, ...messages.map(({ content }) => content.length), ...sizes].join()
}

function repairOnce(messages: readonly Message[]): Message[] {
  const texted = messages.map(repairTexts).filter(saysSomething)
  const paired = onlyPairs(texted).filter(({ content }) => content.length > 0)
  return withoutAssistantAtEnds(mergeNeighbours(paired))
}

type ItemType = MessageContent['type']

const forNoModel: readonly ItemType[] = ['actionRequired', 'systemNotification', 'toolConfirmationRequest', 'frontendToolRequest']
/** The item types that providers reject, by the role of the message. */
const refused: Record<Message['role'], readonly ItemType[]> = {
  user: ['toolRequest', 'thinking', 'redactedThinking'],
  assistant: ['toolResponse'],
}

function isForModels(type: ItemType, role: Message['role']): boolean {
  return !forNoModel.includes(type) && !refused[role].includes(type)
}

/** Joins adjacent texts of the assistant, and trims white space at their ends. */
function repairTexts(message: Message): Message {
  if (message.role === 'user') return message
  const joined: MessageContent[] = []
  for (const item of message.content) {
    const last = joined.at(-1)
    if (item.type === 'text' && last?.type === 'text') joined[joined.length - 1] = { ...last, text: last.text + item.text }
    else joined.push(item)
  }
  const trimmed = joined.map((item) => (item.type === 'text' ? { ...item, text: trimmedEnd(item.text) } : item))
  return { ...message, content: trimmed.filter((item) => item.type !== 'text' || item.text !== '') }
}

function saysSomething({ role, content }: Message): boolean {
  if (content.length === 0) return false
  return role === 'assistant' || content.some((item) => item.type !== 'text' || item.text !== '')
}

/** Drops malformed requests, requests without a later response, and responses without an earlier request. */
function onlyPairs(messages: readonly Message[]): Message[] {
  const items = messages.flatMap(({ content }) => content)
  const responses = new Map(items.flatMap((item, at) => (item.type === 'toolResponse' ? [[item.id, at]] : [])))
  const answered = new Set<string>()
  const kept = new Set<MessageContent>()
  items.forEach((item, at) => {
    if (item.type === 'toolRequest') {
      if (item.toolCall.status === 'error' || (responses.get(item.id) ?? -1) < at) return
      answered.add(item.id)
    } else if (item.type === 'toolResponse' && !answered.has(item.id)) {
      return
    }
    kept.add(item)
  })
  return messages.map((message) => ({ ...message, content: message.content.filter((item) => kept.has(item)) }))
}

function mergeNeighbours(messages: readonly Message[]): Message[] {
  const merged: Message[] = []
  let lastKind: Kind | undefined
  for (const message of messages) {
    const [last, kind] = [merged.at(-1), kindOf(message)]
    if (last !== undefined && lastKind === kind) {
      for (const item of message.content) last.content.push(item)
    } else {
      merged.push({ ...message, content: [...message.content] })
    }
    lastKind = kind
  }
  return merged
}

type Kind = 'assistant' | 'results' | 'user'

/** Adjacent messages of the same kind are merged. */
function kindOf({ role, content }: Message): Kind {
  if (role === 'assistant') return 'assistant'
  return content.some(({ type }) => type === 'toolResponse') ? 'results' : 'user'
}

/**
 * Drops the assistant's messages at both ends. At the beginning their tool results are dropped too, which may expose the next
 * message. All are dropped in one pass, because one pass each would take quadratic time.
 */
function withoutAssistantAtEnds(messages: readonly Message[]): Message[] {
  let start = 0
  let first: Message | undefined
  for (; start < messages.length && first === undefined; start++) first = asFirst(messages[start])
  const kept = [...(first === undefined ? [] : [first]), ...messages.slice(start)]
  return kept.at(-1)?.role === 'assistant' ? kept.slice(0, -1) : kept
}

/** The rest of a message that becomes the first one: its tool results go, because no requests precede them. */
function asFirst(message: Message | undefined): Message | undefined {
  if (message === undefined || message.role === 'assistant') return undefined
  const first = { ...message, content: message.content.filter(({ type }) => type !== 'toolResponse') }
  return saysSomething(first) ? first : undefined
}
