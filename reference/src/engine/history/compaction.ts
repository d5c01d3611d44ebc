import { ModelError, textOf, type ModelRequest, type Provider, type Usage } from '../../llm/model.ts'
import { contextLimitOf } from '../../llm/model-config.ts'
import { resultText } from '../../llm/tool-result.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import type { MessageContent } from '../../domain/message/content.ts'
import type { Message } from '../../domain/message/message.ts'
import type { Settings } from '../../settings/settings.ts'
import { SessionDeletedError, type SessionHandle } from '../../store/session-handle.ts'
import type { LoadedSession } from '../../domain/session/session.ts'
import { newMessage, textMessage } from '../../domain/message/new-message.ts'
import { accumulated } from './token-usage.ts'

const system =
  'Summarize the conversation between a user and an AI agent that follows, so that the agent can go on with the summary alone. ' +
  "Keep the user's goals, what was done and found out, names of files, decisions, errors, and what is left to do."
const continuation = 'The conversation so far was replaced by this summary. I go on from there without mentioning it.'

const defaultThreshold = 0.8
const onlyAgent = { userVisible: false, agentVisible: true }

/** The threshold, as a fraction of the model's limit, that a conversation exceeds; undefined if it stays below (GA 7.10). */
export function exceededThreshold(session: LoadedSession, provider: Provider, settings: Settings): number | undefined {
  // 0 and 1 mean never (G33).
  const threshold = settings.fraction('GOOSE_AUTO_COMPACT_THRESHOLD') ?? defaultThreshold
  if (threshold === 0 || threshold === 1) return undefined
  const tokens = session.total_tokens ?? estimatedTokens(session.conversation)
  return tokens / contextLimitOf(provider.config) > threshold ? threshold : undefined
}

/** Estimates the tokens of a conversation from the bytes of its texts (M26). */
function estimatedTokens(conversation: readonly Message[]): number {
  const items = conversation.filter(({ metadata }) => metadata.agentVisible).flatMap(({ content }) => content)
  return Math.ceil(items.reduce((bytes, item) => bytes + Buffer.byteLength(countedText(item)), 0) / 4)
}

function countedText(item: MessageContent): string {
  if (item.type === 'text') return item.text
  if (item.type === 'toolResponse') return resultText(item.toolResult)
  if (item.type === 'toolRequest' && item.toolCall.status === 'success') return stringifyJson(item.toolCall.value.arguments ?? {})
  return ''
}

/** Who started a compaction. After an automatic one, the reply continues with the user's last message. */
export type CompactionKind = 'manual' | 'automatic'

/**
 * Replaces a conversation by a summary, and returns the resulting session. Messages that others save meanwhile stay after the
 * summary; messages that others delete stay deleted. Rejects with a ModelError if there is no summary, and with a
 * SessionDeletedError if the session is deleted.
 */
export async function compact(
  session: SessionHandle,
  provider: Provider,
  kind: CompactionKind,
  signal: AbortSignal,
): Promise<LoadedSession> {
  const { conversation } = await loaded(session)
  const { content, usage } = await summarize(provider, conversation, signal)
  await session.replaceMessages((stored) => {
    const { old, added } = divided(stored, conversation)
    return [...compacted(old, textOf(content), kind), ...added]
  })
  accountSummary(session, usage ?? { input: null, output: null, total: null })
  return loaded(session)
}

async function loaded(session: SessionHandle): Promise<LoadedSession> {
  const there = await session.load()
  if (there === undefined) throw new SessionDeletedError('the session was deleted')
  return there
}

/** Splits the stored messages into those that were read before, and those that were added since. */
function divided(stored: readonly Message[], read: readonly Message[]): { old: Message[]; added: Message[] } {
  const before = read.map(said)
  let [count, next] = [0, 0]
  for (const message of stored) {
    const at = before.indexOf(said(message), next)
    if (at === -1) break
    count++
    next = at + 1
  }
  return { old: stored.slice(0, count), added: stored.slice(count) }
}

/** A text that identifies a message, independent of its position and its visibility. */
function said({ role, created, content }: Message): string {
  return stringifyJson([role, created, content])
}

async function summarize(
  provider: Provider,
  conversation: readonly Message[],
  signal: AbortSignal,
): Promise<Awaited<ReturnType<Provider['completeFast']>>> {
  try {
    return await provider.completeFast(summaryRequest(conversation, true), signal)
  } catch (error) {
    if (!(error instanceof ModelError && error.contextExceeded)) throw error
    // Tool results are the largest part of a long conversation.
    return provider.completeFast(summaryRequest(conversation, false), signal)
  }
}

function summaryRequest(conversation: readonly Message[], withAnswers: boolean): ModelRequest {
  const blocks = conversation
    .filter(({ metadata }) => metadata.agentVisible)
    .flatMap(({ role, content }) => content.flatMap((item) => block(role, item, withAnswers)))
  return { system, messages: [textMessage('user', blocks.join('\n\n'))], tools: [] }
}

/** An item as the transcript shows it (M23). */
function block(role: Message['role'], item: MessageContent, withAnswers: boolean): string[] {
  switch (item.type) {
    case 'text':
      return [`${role}: ${item.text}`]
    case 'image':
      return [`${role}: [image]`]
    case 'toolRequest': {
      if (item.toolCall.status === 'error') return []
      const { name, arguments: args = {} } = item.toolCall.value
      return [`assistant calls ${name} ${stringifyJson(args)}`]
    }
    case 'toolResponse':
      return withAnswers ? [`tool answers: ${resultText(item.toolResult)}`] : []
    case 'toolConfirmationRequest':
    case 'actionRequired':
    case 'frontendToolRequest':
    case 'thinking':
    case 'redactedThinking':
    case 'systemNotification':
      return []
    default:
      return item satisfies never
  }
}

/** The conversation after a compaction. The model sees the summary; people see the old messages. */
function compacted(conversation: readonly Message[], summary: string, kind: CompactionKind): Message[] {
  const latest = kind === 'manual' ? -1 : conversation.findLastIndex(isPlainUserText)
  const old = conversation.map((message, index) => {
    const isRepeated = index === latest && index === conversation.length - 1
    const metadata = { userVisible: message.metadata.userVisible && !isRepeated, agentVisible: false }
    return { ...message, id: null, metadata }
  })
  const repeated = conversation[latest]
  return [
    ...old,
    newMessage('user', [{ type: 'text', text: summary }], onlyAgent),
    newMessage('assistant', [{ type: 'text', text: continuation }], onlyAgent),
    ...(repeated === undefined ? [] : [newMessage('user', repeated.content.filter(({ type }) => type === 'text'))]),
  ]
}

/** Whether a message is a text from the user, and not a tool result (M25). */
function isPlainUserText({ role, content, metadata }: Message): boolean {
  const types = content.map(({ type }) => type)
  return metadata.agentVisible && role === 'user' && types.includes('text') && !types.includes('toolResponse')
}

/** Sets the session's token numbers to the size of the summary (GA 7.10). */
function accountSummary(session: SessionHandle, usage: Usage): void {
  const before = session.find()
  if (before === undefined) return
  session.update({
    total_tokens: usage.output,
    input_tokens: usage.output,
    output_tokens: null,
    ...accumulated(before, usage),
  })
}
