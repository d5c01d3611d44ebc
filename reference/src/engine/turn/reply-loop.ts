import type { ServerNotification } from '#contract'
import type { Agent } from '../agent/agent.ts'
import { modeOf, type Mode } from '../permission/permissions.ts'
import { ModelError, type ModelChange, type Piece, type Provider } from '../../llm/model.ts'
import type { Message } from '../../domain/message/message.ts'
import type { LoadedSession } from '../../domain/session/session.ts'
import { PublicError } from '../../public-error.ts'
import { compact, exceededThreshold, type CompactionKind } from '../history/compaction.ts'
import { contextNote, withNote } from './context-note.ts'
import { ToolGuard } from '../toolguard/tool-guard.ts'
import { FinalOutput, outputOrder } from './final-output.ts'
import { repairHistory } from '../history/repair-history.ts'
import { hints } from './hints.ts'
import { notice, textMessage } from '../../domain/message/new-message.ts'
import type { ReplyServices } from './reply-services.ts'
import { systemPrompt } from './system-prompt.ts'
import { SavedMessages, save } from '../history/saved-messages.ts'
import { account } from '../history/token-usage.ts'
import { runTools, type AnnouncedRequest } from './run-tools.ts'
import { frontendNames, offeredTools, type Offered } from './offered-tools.ts'

/** Receives the events of a reply. Every call rejects once the client has disconnected. */
export interface ReplyListener {
  sendMessage: (message: Message) => Promise<void>
  /** Sent immediately before that model's message. */
  sendModelChange: (change: ModelChange) => Promise<void>
  sendNotification: (requestId: string, notification: ServerNotification) => Promise<void>
  /** Sent after the conversation was replaced. */
  sendConversation: () => Promise<void>
  /** A person's decision about a call. */
  waitForDecision: (id: string, signal: AbortSignal) => Promise<string>
  signal: AbortSignal
}

const maxTurns = 1000

/** Whether another turn follows. */
type TurnResult = 'continue' | 'stop'

/**
 * Replies to one message of a user. It asks the model and runs the tools that the model calls, until the model calls none
 * (GA 7.6). The message has already been saved.
 */
export class ReplyLoop {
  readonly #deps: ReplyServices
  readonly #agent: Agent
  readonly #listener: ReplyListener
  readonly #mode: Mode
  readonly #toolGuard: ToolGuard
  readonly #finalOutput: FinalOutput
  /** The session when the reply began, plus the messages of this reply, but without messages that others saved later (M53). */
  #session: LoadedSession
  /** True if the context was exceeded, and no call has succeeded since (M27). */
  #recovered = false

  constructor(deps: ReplyServices, agent: Agent, session: LoadedSession, listener: ReplyListener) {
    this.#deps = deps
    this.#agent = agent
    this.#session = session
    this.#listener = listener
    this.#mode = modeOf(deps.settings)
    this.#toolGuard = new ToolGuard(deps.settings, deps.logger)
    this.#finalOutput = new FinalOutput(deps.recipeWorker)
  }

  /** The reply to `/compact`. Throws if there is no provider, or a SessionDeletedError. */
  async compactOnly(): Promise<void> {
    await this.#listener.sendMessage(notice('thinkingMessage', compacting))
    const { provider } = this.#agent
    if (provider === null) throw new PublicError('Provider not set')
    if (await this.#compact(provider, 'manual')) await this.#listener.sendMessage(notice('inlineMessage', compactionComplete))
  }

  /** The reply to any other message. Throws a SessionDeletedError if the session is deleted. */
  async reply(provider: Provider): Promise<void> {
    if (!(await this.#compactIfLarge(provider))) return
    this.#deps.naming.begin(this.#agent.session, this.#session.conversation, provider)
    for (let turn = 0; turn < maxTurns; turn++) {
      await this.#deps.settings.prepare()
      if ((await this.#turn(provider)) === 'stop') return
    }
    await this.#listener.sendMessage(textMessage('assistant', tooManyTurns))
  }

  /** Returns false if the conversation is too large and cannot be compacted. */
  async #compactIfLarge(provider: Provider): Promise<boolean> {
    const threshold = exceededThreshold(this.#session, provider, this.#deps.settings)
    if (threshold === undefined) return true
    const percent = Math.trunc(threshold * 100)
    await this.#listener.sendMessage(notice('inlineMessage', `Exceeded auto-compact threshold of ${percent}%. Performing auto-compaction...`))
    await this.#listener.sendMessage(notice('thinkingMessage', compacting))
    if (!(await this.#compact(provider, 'automatic'))) return false
    await this.#listener.sendMessage(notice('inlineMessage', compactionComplete))
    return true
  }

  /** Returns false if the compaction failed; the client has then received the error message. */
  async #compact(provider: Provider, kind: CompactionKind): Promise<boolean> {
    try {
      this.#session = await compact(this.#agent.session, provider, kind, this.#listener.signal)
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      await this.#listener.sendMessage(textMessage('assistant', `Ran into this error trying to compact: ${error.message}.`))
      return false
    }
    await this.#listener.sendConversation()
    return true
  }

  async #turn(provider: Provider): Promise<TurnResult> {
    const { telemetry } = this.#deps
    const turn = provider.beginTurn()
    const { finalOutput } = this.#agent
    this.#finalOutput.wanted = finalOutput
    const offered = await offeredTools(this.#agent, { config: turn.config, mode: this.#mode, finalOutput }, this.#deps)
    let pieces: AsyncIterable<Piece>
    try {
      const request = { ...(await this.#prompt()), tools: offered.tools }
      const { signal } = this.#listener
      pieces = await (telemetry === undefined ? turn.answer(request, signal) : telemetry.answer(() => turn.answer(request, signal)))
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      return this.#callFailed(provider, error)
    }
    this.#recovered = false
    const saved = new SavedMessages()
    const requests = await this.#relayAnswer(pieces, offered, saved)
    const ran = await runTools(requests, {
      agent: this.#agent,
      elicitations: this.#deps.elicitations,
      largeTexts: this.#deps.largeTexts,
      settings: this.#deps.settings,
      mode: this.#mode,
      toolGuard: this.#toolGuard,
      clientTools: this.#deps.clientTools,
      hooks: this.#deps.hooks,
      offered,
      finalOutput: this.#finalOutput,
      reply: { ...this.#listener, finalOutput: this.#finalOutput, place: telemetry?.here(this.#agent.session.id) },
      telemetry,
      signal: this.#listener.signal,
    })
    saved.add(...ran)
    const outcome = await this.#next(requests.length > 0, saved)
    this.#listener.signal.throwIfAborted()
    await save(this.#agent.session, saved.messages)
    this.#session.conversation.push(...saved.messages)
    return this.#endWithOutput(outcome)
  }

  async #prompt(): Promise<{ system: string; messages: Message[] }> {
    const { working_dir: workingDirectory, conversation } = this.#session
    const { extensions } = this.#agent
    const note = contextNote(new Date(), workingDirectory, extensions.notes())
    const { clientPrompt } = this.#agent
    const system = systemPrompt({
      instructions: await extensions.instructions(),
      added: clientPrompt === null ? [] : [clientPrompt],
      outputSchema: this.#finalOutput.wanted?.shown,
      hints: hints(this.#deps.settings, workingDirectory),
    })
    return { system, messages: withNote(repairHistory(conversation), note) }
  }

  async #callFailed(provider: Provider, error: ModelError): Promise<TurnResult> {
    if (!error.contextExceeded || this.#recovered) {
      await this.#listener.sendMessage(textMessage('assistant', `Ran into this error: ${error.message}.\n\nPlease try again.`))
      return 'stop'
    }
    this.#recovered = true
    await this.#listener.sendMessage(notice('inlineMessage', 'Context limit reached. Compacting to continue conversation...'))
    await this.#listener.sendMessage(notice('thinkingMessage', compacting))
    return (await this.#compact(provider, 'automatic')) ? 'continue' : 'stop'
  }

  /** Passes an answer to the client as it arrives. Returns its tool requests, and adds the rest to `saved`. */
  async #relayAnswer(pieces: AsyncIterable<Piece>, { clientTools }: Offered, saved: SavedMessages): Promise<AnnouncedRequest[]> {
    const frontend = frontendNames(this.#agent, clientTools)
    const requests: AnnouncedRequest[] = []
    for await (const { id, content, usage, change } of pieces) {
      if (usage !== null) account(this.#agent.session, usage)
      if (change !== undefined) await this.#listener.sendModelChange(change)
      if (content === null) continue
      const shown = content.filter(
        (item) => item.type !== 'toolRequest' || item.toolCall.status === 'error' || !frontend.has(item.toolCall.value.name),
      )
      await this.#listener.sendMessage({ ...textMessage('assistant', ''), id, content: shown })
      requests.push(...content.filter((item) => item.type === 'toolRequest').map((request) => ({ request, messageId: id })))
      saved.addPiece(id, content.filter((item) => item.type !== 'toolRequest'))
    }
    return requests
  }

  /** Whether the model is asked again, for example because the final output is missing (GA 7.13). */
  async #next(hasRequests: boolean, saved: SavedMessages): Promise<TurnResult> {
    if (this.#finalOutput.output !== undefined) return 'stop'
    if (hasRequests) return 'continue'
    if (this.#finalOutput.wanted === undefined) return 'stop'
    const order = textMessage('user', outputOrder)
    saved.add(order)
    await this.#listener.sendMessage(order)
    return 'continue'
  }

  async #endWithOutput(outcome: TurnResult): Promise<TurnResult> {
    const { output } = this.#finalOutput
    if (outcome === 'stop' && output !== undefined) await this.#listener.sendMessage(textMessage('assistant', output))
    return outcome
  }
}

const compacting = 'goose is compacting the conversation...'
const compactionComplete = 'Compaction complete'
const tooManyTurns =
  'I have reached the maximum number of actions that I may take without you. Do you want me to go on?'
