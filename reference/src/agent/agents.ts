import type { Logger } from '../log.ts'
import { Agent } from './agent.ts'
import type { AgentParts } from './parts.ts'

/**
 * The agents in memory, at most so many; of more, the one that was asked for least recently is dropped (GA 6). They are
 * made when they are asked for, for sessions that do not exist as well.
 */
export class Agents<P extends AgentParts = AgentParts> {
  readonly #capacity: number
  readonly #makeParts: (sessionId: string) => P
  readonly #logger: Logger
  /** Least recently asked for first. */
  readonly #agents = new Map<string, Agent<P>>()
  readonly #closing = new Set<Promise<void>>()
  /** One for each agent whose connections are not closed yet. */
  readonly #open = new Set<Promise<void>>()

  constructor(capacity: number, makeParts: (sessionId: string) => P, logger: Logger) {
    this.#capacity = capacity
    this.#makeParts = makeParts
    this.#logger = logger
  }

  get(sessionId: string): Agent<P> {
    const agent = this.#agents.get(sessionId) ?? this.#make(sessionId)
    this.#agents.delete(sessionId)
    this.#agents.set(sessionId, agent)
    for (const [id] of this.#agents) {
      if (this.#agents.size <= this.#capacity) break
      this.stop(id)
    }
    return agent
  }

  /** Drops an agent. False when there is none. */
  stop(sessionId: string): boolean {
    const agent = this.#agents.get(sessionId)
    if (agent === undefined) return false
    this.#agents.delete(sessionId)
    agent.drop()
    return true
  }

  /** Drops all agents, and waits until the connections of those are closed that nobody uses. */
  async stopAll(): Promise<void> {
    for (const id of [...this.#agents.keys()]) this.stop(id)
    await Promise.all(this.#closing)
  }

  /** Waits for the rest, too. */
  async closed(): Promise<void> {
    await Promise.all(this.#open)
  }

  #make(sessionId: string): Agent<P> {
    const parts = this.#makeParts(sessionId)
    let ended = (): void => undefined
    const end = new Promise<void>((resolve) => (ended = resolve)).finally(() => this.#open.delete(end))
    this.#open.add(end)
    return new Agent(sessionId, parts, () => {
      const closed: Promise<void> = this.#close(sessionId, parts).finally(() => {
        this.#closing.delete(closed)
        ended()
      })
      this.#closing.add(closed)
    })
  }

  /** Never rejects. */
  async #close(sessionId: string, { confirmations, extensions }: P): Promise<void> {
    try {
      confirmations.close()
      await extensions.close()
    } catch (err) {
      this.#logger.warn('agent not closed', { session: sessionId, err })
    }
  }
}
