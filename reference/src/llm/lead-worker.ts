import { integer, readShape } from '../json/shape.ts'
import type { ModelConfig } from '../sessions/session.ts'
import type { Settings } from '../settings/settings.ts'
import type { ModelChange, ModelRequest, Piece, Provider, Turn, WholeAnswer } from './model.ts'
import { ModelError } from './model.ts'
import type { ModelProvider } from './model-provider.ts'
import { only } from './model-provider.ts'

/** When which model has its turn (M59). */
export interface LeadLimits {
  /** How many turns the lead has first. */
  turns: number
  /** After how many failed turns in a row it has more. */
  failures: number
  /** How many it has then. */
  fallback: number
}

/** A lead as the settings name it. */
export interface LeadSettings {
  /** Undefined for that of the worker. */
  provider: string | undefined
  model: string
  limits: LeadLimits
}

/** Undefined when there is to be no lead (M57). */
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

/** A setting that counts something; what is no such number is as good as none. */
function count(settings: Settings, key: string, otherwise: number): number {
  try {
    return readShape(countShape, settings.get(key))
  } catch {
    return otherwise
  }
}

/**
 * Two models that take turns: the lead has the first ones, then the worker, and the lead again for a while when the worker
 * fails (M59). All that is no turn of a reply is asked of the worker (M63), so whoever looks at this sees the worker.
 */
export class LeadWorker implements Provider {
  readonly name: string
  readonly config: ModelConfig
  readonly #lead: ModelProvider
  readonly #worker: ModelProvider
  readonly #limits: LeadLimits
  /** Turns that have been counted, of all replies. */
  #turns = 0
  /** The lead has all turns before this one. */
  #leadUntil: number
  /** Failed turns of the worker in a row. */
  #failures = 0

  constructor(lead: ModelProvider, worker: ModelProvider, limits: LeadLimits) {
    this.name = worker.name
    this.config = worker.config
    this.#lead = lead
    this.#worker = worker
    this.#limits = limits
    this.#leadUntil = limits.turns
  }

  beginTurn(): Turn {
    const first = this.#turns < this.#leadUntil ? this.#lead : this.#worker
    let answered = first
    return {
      config: first.config,
      answer: async (request, signal) => {
        const answer = await this.#ask(first, request, signal)
        answered = answer.from
        return only(answer.piece)
      },
      end: (failed) => {
        this.#count(answered === this.#worker, failed)
      },
    }
  }

  answer(request: ModelRequest, signal: AbortSignal): Promise<AsyncIterable<Piece>> {
    return this.beginTurn().answer(request, signal)
  }

  complete(request: ModelRequest, signal: AbortSignal): Promise<WholeAnswer> {
    return this.#worker.complete(request, signal)
  }

  completeFast(request: ModelRequest, signal: AbortSignal): Promise<Piece> {
    return this.#worker.completeFast(request, signal)
  }

  /** Asks a model, and the lead in the place of a worker that fails (M61). */
  async #ask(first: ModelProvider, request: ModelRequest, signal: AbortSignal): Promise<{ from: ModelProvider; piece: Piece }> {
    try {
      return { from: first, piece: this.#told(first, await first.complete(request, signal)) }
    } catch (error) {
      if (first === this.#lead || !(error instanceof ModelError)) throw error
      return { from: this.#lead, piece: this.#told(this.#lead, await this.#lead.complete(request, signal)) }
    }
  }

  /** The piece of an answer, with what clients are told of its model: nothing when it says nothing of its cost (M62). */
  #told(from: ModelProvider, { id, content, usage, model }: WholeAnswer): Piece {
    if (usage === null) return { id, content, usage }
    const name = model ?? from.wireModel
    return { id, content, usage, change: { model: name, mode: this.#modeOf(name) } }
  }

  /** Goes by the name alone: a server may have had another model answer. */
  #modeOf(model: string): ModelChange['mode'] {
    if (model === this.#lead.wireModel) return 'lead'
    return model === this.#worker.wireModel ? 'worker' : 'unknown'
  }

  /** Turns of the lead say nothing about the worker (M60). */
  #count(byWorker: boolean, failed: boolean): void {
    this.#turns++
    if (!byWorker) return
    this.#failures = failed ? this.#failures + 1 : 0
    if (this.#failures < this.#limits.failures) return
    this.#failures = 0
    this.#leadUntil = this.#turns + this.#limits.fallback
  }
}
