import type { AppOptions } from '../app.ts'
import type { MessageEvent } from '#contract'
import type { Message } from '../domain/message/message.ts'
import type { Session } from '../domain/session/session.ts'
import type { EventReader } from './event-reader.ts'
import { GooseApp } from './goose-app.ts'
import { Upstream, chatWhole, wantsWhole } from './upstream.ts'

/** A goose server whose model is the test's upstream. */
export class ChatApp extends GooseApp {
  readonly upstream: Upstream

  private constructor(upstream: Upstream, environment: Record<string, string>, options: Partial<AppOptions>) {
    const model = { OPENAI_API_KEY: 'k', OPENAI_HOST: upstream.url, GOOSE_PROVIDER_SKIP_BACKOFF: 'true' }
    super({ environment: { ...model, ...environment }, ...options })
    this.upstream = upstream
  }

  static async open(environment: Record<string, string> = {}, options: Partial<AppOptions> = {}): Promise<ChatApp> {
    return new ChatApp(await Upstream.start(), environment, options)
  }

  /** Starts a session with a model, and prepares the answers to its naming. */
  async chat(start: object = {}): Promise<string> {
    const id = await this.start(start)
    const answer = await this.call('POST', '/agent/update_provider', { provider: 'openai', model: 'gpt-4o', session_id: id })
    if (answer.status !== 200) throw new Error(`update_provider: ${answer.status} ${answer.text}`)
    for (let i = 0; i < 3; i++) this.upstream.answers(chatWhole('A name'), (asked) => wantsWhole(asked) && isNaming(asked.body.messages))
    return id
  }

  /** Opens the stream of a reply. */
  override async open(target: string, init: RequestInit = {}): Promise<EventReader> {
    return super.open(target, { ...init, headers: { 'X-Secret-Key': 'test', ...(init.headers as Record<string, string> | undefined) } })
  }

  async say(id: string, ...content: unknown[]): Promise<ReplyReader> {
    const message = { role: 'user', created: 1, content: content.map(asItem), metadata: { userVisible: true, agentVisible: true } }
    return this.reply({ session_id: id, messages: [message] })
  }

  async reply(body: unknown): Promise<ReplyReader> {
    const init = { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
    return new ReplyReader(await this.open('/reply', init))
  }

  /** All events of a complete reply, except pings. */
  async hear(id: string, ...content: unknown[]): Promise<MessageEvent[]> {
    return (await this.say(id, ...content)).rest()
  }

  async session(id: string): Promise<Session & { conversation: Message[] }> {
    return JSON.parse((await this.get(`/sessions/${id}`)).text) as Session & { conversation: Message[] }
  }

  /** The stored conversation, with one line for each message. */
  async conversation(id: string): Promise<string[]> {
    return (await this.session(id)).conversation.map(line)
  }
}

function asItem(item: unknown): unknown {
  return typeof item === 'string' ? { type: 'text', text: item } : item
}

function isNaming(messages: { content?: unknown }[]): boolean {
  return JSON.stringify(messages[0]?.content).includes('Describe the topic')
}

/** Reads a reply, and skips its pings. */
export class ReplyReader {
  readonly events: EventReader

  constructor(events: EventReader) {
    this.events = events
  }

  /** Returns null at the end of the stream. */
  async next(): Promise<MessageEvent | null> {
    for (;;) {
      const block = await this.events.next()
      if (block === null) return null
      const event = JSON.parse(/^data: (.*)\n\n$/.exec(block)?.[1] ?? '') as MessageEvent
      if (event.type !== 'Ping') return event
    }
  }

  async rest(): Promise<MessageEvent[]> {
    const events: MessageEvent[] = []
    for (let event = await this.next(); event !== null; event = await this.next()) events.push(event)
    return events
  }
}

/** A message as one line: who sees it unless both do, its role, and its items. */
export function line({ role, content, metadata }: Message): string {
  const seen = `${metadata.userVisible ? '' : 'hidden '}${metadata.agentVisible ? '' : 'forgotten '}`
  const items = content.map((item) => {
    switch (item.type) {
      case 'text':
        return item.text
      case 'toolRequest':
        return `call ${item.id} ${JSON.stringify(item.toolCall)}`
      case 'toolResponse':
        return `result ${item.id} ${JSON.stringify(item.toolResult)}`
      case 'systemNotification':
        return `${item.notificationType} ${item.msg}`
      case 'actionRequired':
        return `${item.data.actionType} ${item.data.id}`
      case 'image':
      case 'toolConfirmationRequest':
      case 'frontendToolRequest':
      case 'thinking':
      case 'redactedThinking':
        return item.type
      default:
        return item satisfies never
    }
  })
  return `${seen}${role}: ${items.join(' | ')}`
}

/** An event as one line. */
export function eventLine(event: MessageEvent): string {
  switch (event.type) {
    case 'Message':
      return line(event.message)
    case 'Error':
      return `Error ${event.error}`
    case 'ModelChange':
      return `ModelChange ${event.mode} ${event.model}`
    case 'Notification':
      return `Notification ${event.request_id} ${event.message.method}`
    case 'UpdateConversation':
      return `UpdateConversation ${event.conversation.map(line).join('; ')}`
    case 'Finish':
    case 'Ping':
      return event.type
    default:
      return event satisfies never
  }
}
