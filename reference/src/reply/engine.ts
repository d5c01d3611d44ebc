import { modeOf } from '../agent/permissions.ts'
import type { Mode } from '../agent/permissions.ts'
import type { ModelChange, Piece, Provider } from '../llm/model.ts'
import { ModelError } from '../llm/model.ts'
import type { ContentOf } from '../message/content.ts'
import type { Message } from '../message/message.ts'
import type { LoadedSession } from '../store/session-store.ts'
import { ToldError } from '../told-error.ts'
import { compact, exceededThreshold } from './compaction.ts'
import type { CompactionKind } from './compaction.ts'
import { contextNote, withNote } from './context-note.ts'
import { DangerCheck } from './dangers.ts'
import type { McpNotification } from './events.ts'
import { FinalOutput, outputOrder } from './final-output.ts'
import { repairHistory } from './history.ts'
import { hints } from './hints.ts'
import { notice, textMessage } from './new-message.ts'
import type { EngineAgent, ReplyParts } from './parts.ts'
import { systemPrompt } from './prompt.ts'
import { SavedMessages, save } from './saved-messages.ts'
import { account } from './token-account.ts'
import { runTools } from './tool-runs.ts'
import { frontendNames, toolsOf } from './turn-tools.ts'

/** Where a reply tells what happens. Each call rejects when the client has gone. */
export interface Listener {
  say: (message: Message) => Promise<void>
  /** Comes right before the message that it is about. */
  modelChanged: (change: ModelChange) => Promise<void>
  notify: (requestId: string, notification: McpNotification) => Promise<void>
  /** The conversation was replaced. */
  replaced: () => Promise<void>
  /** What a person decides about a call. */
  decided: (id: string, signal: AbortSignal) => Promise<string>
  signal: AbortSignal
}

const maxTurns = 1000

/** What a turn came to. */
type Outcome = 'again' | 'over'

/**
 * Answers one message of a user: asks the model, runs the tools that it asks for, and asks it again, until it asks for
 * none (GA 7.6). The message has been saved before.
 */
export class Engine {
  readonly #parts: ReplyParts
  readonly #agent: EngineAgent
  readonly #listener: Listener
  readonly #mode: Mode
  readonly #dangers: DangerCheck
  readonly #finalOutput: FinalOutput
  /** The session as it was when the reply began, with the messages that this reply has added: of others it knows nothing (M53). */
  #session: LoadedSession
  /** The context was exceeded, and no call has succeeded since (M27). */
  #recovered = false

  constructor(parts: ReplyParts, agent: EngineAgent, session: LoadedSession, listener: Listener) {
    this.#parts = parts
    this.#agent = agent
    this.#session = session
    this.#listener = listener
    this.#mode = modeOf(parts.settings)
    this.#dangers = new DangerCheck(parts.settings, parts.logger)
    this.#finalOutput = new FinalOutput(parts.workshop)
  }

  /** The reply to `/compact`. Throws when there is no provider, or a SessionGoneError. */
  async compactOnly(): Promise<void> {
    await this.#listener.say(notice('thinkingMessage', compacting))
    const { provider } = this.#agent.parts.model
    if (provider === null) throw new ToldError('Provider not set')
    if (await this.#compact(provider, 'manual')) await this.#listener.say(notice('inlineMessage', compactionComplete))
  }

  /** The reply to any other message. Throws a SessionGoneError when there is no session any more to save it in. */
  async reply(provider: Provider): Promise<void> {
    if (!(await this.#compactIfLarge(provider))) return
    this.#parts.naming.begin(this.#agent.parts.session, this.#session.conversation, provider)
    for (let turn = 0; turn < maxTurns; turn++) {
      if ((await this.#turn(provider)) === 'over') return
    }
    await this.#listener.say(textMessage('assistant', tooManyTurns))
  }

  /** False when the conversation is too large, and stays so. */
  async #compactIfLarge(provider: Provider): Promise<boolean> {
    const threshold = exceededThreshold(this.#session, provider, this.#parts.settings)
    if (threshold === undefined) return true
    const percent = Math.trunc(threshold * 100)
    await this.#listener.say(notice('inlineMessage', `Exceeded auto-compact threshold of ${percent}%. Performing auto-compaction...`))
    await this.#listener.say(notice('thinkingMessage', compacting))
    if (!(await this.#compact(provider, 'automatic'))) return false
    await this.#listener.say(notice('inlineMessage', compactionComplete))
    return true
  }

  /** False when it did not work, which the client has been told. */
  async #compact(provider: Provider, kind: CompactionKind): Promise<boolean> {
    try {
      this.#session = await compact(this.#agent.parts.session, provider, kind, this.#listener.signal)
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      await this.#listener.say(textMessage('assistant', `Ran into this error trying to compact: ${error.message}.`))
      return false
    }
    await this.#listener.replaced()
    return true
  }

  async #turn(provider: Provider): Promise<Outcome> {
    const turn = provider.beginTurn()
    const { finalOutput } = this.#agent
    this.#finalOutput.wanted = finalOutput
    const tools = await toolsOf(this.#agent, { config: turn.config, mode: this.#mode, finalOutput }, this.#parts.logger)
    let pieces: AsyncIterable<Piece>
    try {
      pieces = await turn.answer({ ...(await this.#question()), tools }, this.#listener.signal)
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      return this.#callFailed(provider, error)
    }
    this.#recovered = false
    const saved = new SavedMessages()
    const requests = await this.#hear(pieces, saved)
    const ran = await runTools(requests, {
      agent: this.#agent,
      elicitations: this.#parts.elicitations,
      largeTexts: this.#parts.largeTexts,
      settings: this.#parts.settings,
      mode: this.#mode,
      dangers: this.#dangers,
      tools,
      finalOutput: this.#finalOutput,
      ...this.#listener,
    })
    saved.add(...ran)
    const outcome = await this.#next(requests.length > 0, saved)
    this.#listener.signal.throwIfAborted()
    await save(this.#agent.parts.session, saved.messages)
    this.#session.conversation.push(...saved.messages)
    return this.#endWithOutput(outcome)
  }

  async #question(): Promise<{ system: string; messages: Message[] }> {
    const { working_dir: workingDirectory, conversation } = this.#session
    const { extensions } = this.#agent.parts
    const note = contextNote(new Date(), workingDirectory, extensions.notes())
    const { clientPrompt } = this.#agent
    const system = systemPrompt({
      instructions: await extensions.instructions(),
      added: clientPrompt === null ? [] : [clientPrompt],
      outputSchema: this.#finalOutput.wanted?.shown,
      hints: hints(this.#parts.settings, workingDirectory),
    })
    return { system, messages: withNote(repairHistory(conversation), note) }
  }

  async #callFailed(provider: Provider, error: ModelError): Promise<Outcome> {
    if (!error.contextExceeded || this.#recovered) {
      await this.#listener.say(textMessage('assistant', `Ran into this error: ${error.message}.\n\nPlease try again.`))
      return 'over'
    }
    this.#recovered = true
    await this.#listener.say(notice('inlineMessage', 'Context limit reached. Compacting to continue conversation...'))
    await this.#listener.say(notice('thinkingMessage', compacting))
    return (await this.#compact(provider, 'automatic')) ? 'again' : 'over'
  }

  /** Passes an answer on as it comes. Returns the tool requests in it; the rest is what will be saved. */
  async #hear(pieces: AsyncIterable<Piece>, saved: SavedMessages): Promise<ContentOf<'toolRequest'>[]> {
    const frontend = frontendNames(this.#agent)
    const requests: ContentOf<'toolRequest'>[] = []
    for await (const { id, content, usage, change } of pieces) {
      if (usage !== null) account(this.#agent.parts.session, usage)
      if (change !== undefined) await this.#listener.modelChanged(change)
      if (content === null) continue
      const shown = content.filter(
        (item) => item.type !== 'toolRequest' || item.toolCall.status === 'error' || !frontend.has(item.toolCall.value.name),
      )
      await this.#listener.say({ ...textMessage('assistant', ''), id, content: shown })
      requests.push(...content.filter((item) => item.type === 'toolRequest'))
      saved.addPiece(id, content.filter((item) => item.type !== 'toolRequest'))
    }
    return requests
  }

  /** Whether the model is asked again; it may have forgotten the final output (GA 7.13). */
  async #next(hasRequests: boolean, saved: SavedMessages): Promise<Outcome> {
    if (this.#finalOutput.output !== undefined) return 'over'
    if (hasRequests) return 'again'
    if (this.#finalOutput.wanted === undefined) return 'over'
    const order = textMessage('user', outputOrder)
    saved.add(order)
    await this.#listener.say(order)
    return 'again'
  }

  async #endWithOutput(outcome: Outcome): Promise<Outcome> {
    const { output } = this.#finalOutput
    if (outcome === 'over' && output !== undefined) await this.#listener.say(textMessage('assistant', output))
    return outcome
  }
}

const compacting = 'goose is compacting the conversation...'
const compactionComplete = 'Compaction complete'
const tooManyTurns =
  'I have reached the maximum number of actions that I may take without you. Do you want me to go on?'
