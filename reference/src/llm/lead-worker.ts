import { integer, readShape } from '../wire/json/shape.ts'
import type { ModelConfig } from '../domain/session/session.ts'
import type { Settings } from '../settings/settings.ts'
import { ModelError, type Completion, type ModelChange, type ModelRequest, type Piece, type Provider, type Turn } from './model.ts'
import { only, type ModelProvider } from './model-provider.ts'

/** The limits that decide which model is asked (M59). */
interface LeadLimits {
  /** How many answers the lead gives first. */
  turns: number
  /** After how many consecutive failed answers the lead is asked again. */
  failures: number
  /** How many successful answers the lead then gives. */
  fallback: number
}

/** The lead model that the settings configure. */
interface LeadSettings {
  /** Undefined means the worker's provider. */
  provider: string | undefined
  model: string
  limits: LeadLimits
}

/** Undefined if the settings configure no lead (M57). */
export function leadSettings(settings: Settings): LeadSettings | undefined {
  const model = settings.text('GOOSE_LEAD_MODEL') ?? ''
  if (model === '') return undefined
  return {
    provider: settings.text('GOOSE_LEAD_PROVIDER') || undefined,
    model,
    limits: {
      turns: count(settings, 'GOOSE_LEAD_TURNS', 3),
      failures: count(settings, 'GOOSE_LEAD_FAILURE_THRESHOLD', 2),
      fallback: count(settings, 'GOOSE_LEAD_FALLBACK_TURNS', 2),
    },
  }
}

const countShape = integer(1, 1_000_000)

/** A setting that is a count. Anything except a valid number counts as not set. */
function count(settings: Settings, key: string, otherwise: number): number {
  try {
    return readShape(countShape, settings.get(key))
  } catch {
    return otherwise
  }
}

const workerLimit = integer(1, 2 ** 31 - 1)

/** The worker's context limit in the settings; undefined if they have none (M57). */
export function workerContextLimit(settings: Settings): number | undefined {
  const set = settings.get('GOOSE_WORKER_CONTEXT_LIMIT')
  try {
    return readShape(workerLimit, typeof set === 'string' && /^\d+$/.test(set) ? Number(set) : set)
  } catch {
    return undefined
  }
}

/**
 * Two models that take turns: first the lead answers, then the worker. When answers fail, the lead answers again for a while
 * (M59). The name and the config are those of the worker.
 */
export class LeadWorker implements Provider {
  readonly name: string
  readonly config: ModelConfig
  readonly #lead: ModelProvider
  readonly #worker: ModelProvider
  readonly #limits: LeadLimits
  /** The number of all answers so far. */
  #answers = 0
  /** The number of consecutive failed answers. */
  #failures = 0
  /** How many successful answers the lead still has to give before the worker is asked again. */
  #owed = 0

  constructor(lead: ModelProvider, worker: ModelProvider, limits: LeadLimits) {
    this.name = worker.name
    this.config = worker.config
    this.#lead = lead
    this.#worker = worker
    this.#limits = limits
  }

  beginTurn(): Turn {
    const first = this.#next()
    return { config: first.config, answer: async (request, signal) => only(this.#clientMessage(await this.#ask(first, request, signal))) }
  }

  async complete(request: ModelRequest, signal: AbortSignal): Promise<Completion> {
    return (await this.#ask(this.#next(), request, signal)).answer
  }

  /** Neither model has a fast model (M63). */
  completeFast(request: ModelRequest, signal: AbortSignal): Promise<Piece> {
    return this.complete(request, signal)
  }

  #next(): ModelProvider {
    return this.#answers < this.#limits.turns || this.#owed > 0 ? this.#lead : this.#worker
  }

  /** Asks a model. If that fails, asks the lead once (M61). */
  async #ask(first: ModelProvider, request: ModelRequest, signal: AbortSignal): Promise<Answered> {
    let answered: Answered
    try {
      answered = { from: first, answer: await first.complete(request, signal) }
    } catch (error) {
      if (!(error instanceof ModelError)) throw error
      answered = { from: this.#lead, answer: await this.#again(error, request, signal) }
    }
    this.#count(answered)
    return answered
  }

  async #again(first: ModelError, request: ModelRequest, signal: AbortSignal): Promise<Completion> {
    try {
      return await this.#lead.complete(request, signal)
    } catch (error) {
      throw error instanceof ModelError ? first : error
    }
  }

  /** The piece of an answer, with the model change for clients. A piece without usage has no model change (M62). */
  #clientMessage({ from, answer: { id, content, usage, model } }: Answered): Piece {
    if (usage === null) return { id, content, usage }
    const name = model ?? from.wireModel
    return { id, content, usage, change: { model: name, mode: this.#modeOf(name) } }
  }

  /** Decides by the name alone, because a server may use a different model to answer. */
  #modeOf(model: string): ModelChange['mode'] {
    if (model === this.#lead.config.model_name) return 'lead'
    return model === this.#worker.config.model_name ? 'worker' : 'unknown'
  }

  #count({ from, answer }: Answered): void {
    const failed = hasFailed(answer)
    const isFirst = this.#answers++ < this.#limits.turns
    if (this.#owed > 0) {
      if (failed || from !== this.#lead) return
      this.#owed--
      if (this.#owed === 0) this.#failures = 0
      return
    }
    this.#failures = failed ? this.#failures + 1 : 0
    if (!isFirst && failed && this.#failures >= this.#limits.failures) this.#owed = this.#limits.fallback
  }
}

/** An answer, and the model that gave it. */
interface Answered {
  from: ModelProvider
  answer: Completion
}

/** Whether a model takes back its statement, or makes a malformed tool call (M60). */
function hasFailed({ content }: Completion): boolean {
  return (content ?? []).some((item) => {
    if (item.type === 'toolRequest') return item.toolCall.status === 'error'
    return item.type === 'text' && soundsWrong(item.text.toLowerCase())
  })
}

function soundsWrong(text: string): boolean {
  return doubts.some((words) => text.includes(words)) || refusals.some((words) => text.startsWith(words))
}

const doubts = [
  "that's wrong", "that's not right", "that doesn't work", 'try again', 'let me correct', 'actually, ', "no, that's", "that's incorrect",
  'fix this', 'this is broken', "this doesn't",
]
const refusals = ['no,', 'wrong', 'incorrect']
