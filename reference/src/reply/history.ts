import type { MessageContent } from '../message/content.ts'
import { visibleToBoth } from '../message/message.ts'
import type { Message } from '../message/message.ts'
import { trimmedEnd } from '../text/white-space.ts'
import { nowInSeconds } from './new-message.ts'

/*
 * Models refuse conversations that are not well-formed, and people edit, fork and interrupt them. This is M18, and the
 * stored conversation is not changed by it (GA 18.2).
 */

/** The conversation as a model gets it: it begins and ends with the user, and every call has its result. */
export function repairHistory(conversation: readonly Message[]): Message[] {
  let messages = conversation
    .filter(({ metadata }) => metadata.agentVisible)
    .map((message) => ({ ...message, content: message.content.filter(isForModels) }))
  for (let before = ''; before !== shapeOf(messages); ) {
    before = shapeOf(messages)
    messages = repairOnce(messages)
  }
  return messages.length > 0 ? messages : [placeholder()]
}

function placeholder(): Message {
  return { id: null, role: 'user', created: nowInSeconds(), content: [{ type: 'text', text: 'Hello' }], metadata: visibleToBoth }
}

/** What every step of a repair makes smaller, so that two equal ones mean that nothing has changed. */
function shapeOf(messages: readonly Message[]): string {
  const sizes = messages.map(({ content }) => content.reduce((sum, item) => sum + (item.type === 'text' ? item.text.length : 0), 0))
  return [messages.length, ...messages.map(({ content }) => content.length), ...sizes].join()
}

function repairOnce(messages: readonly Message[]): Message[] {
  const texted = messages.map(repairTexts).filter(saysSomething)
  const paired = onlyPairs(texted).filter(({ content }) => content.length > 0)
  return withoutAssistantAtEnds(mergeNeighbours(paired))
}

function isForModels({ type }: MessageContent): boolean {
  return !['actionRequired', 'systemNotification', 'toolConfirmationRequest', 'frontendToolRequest'].includes(type)
}

/** Joins adjacent texts of the assistant, and takes white space from their ends. */
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

/** Leaves requests out that have no response behind them or are malformed, and responses without a request before them. */
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
  for (const message of messages) {
    const last = merged.at(-1)
    if (last !== undefined && kindOf(last) === kindOf(message)) {
      merged[merged.length - 1] = { ...last, content: [...last.content, ...message.content] }
    } else {
      merged.push(message)
    }
  }
  return merged
}

/** Neighbours of one kind become one message. */
function kindOf({ role, content }: Message): 'assistant' | 'results' | 'user' {
  if (role === 'assistant') return 'assistant'
  return content.some(({ type }) => type === 'toolResponse') ? 'results' : 'user'
}

function withoutAssistantAtEnds(messages: readonly Message[]): Message[] {
  const start = messages[0]?.role === 'assistant' ? 1 : 0
  const end = messages.at(-1)?.role === 'assistant' ? -1 : undefined
  return messages.slice(start, end)
}
