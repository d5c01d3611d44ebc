import type { Logger } from '../log.ts'
import { Agent } from './agent.ts'
import type { AgentParts } from './parts.ts'

/** An agent that was dropped. */
interface Ending<P extends AgentParts> {
  agent: Agent<P>
  /** Its connections are being closed, or are closed. */
  closing?: Promise<void>
  /** They are closed, and the agent has no user. */
  ended: Promise<void>
  end: () => void
}

/**
 * The agents in memory, at most so many; of more, idle ones are dropped, the one that was asked for least recently first
 * (GA 6, G16). They are made when they are asked for, for sessions that do not exist as well.
 */
export class Agents<P extends AgentParts = AgentParts> {
  readonly #capacity: number
  readonly #makeParts: (sessionId: string) => P
  readonly #logger: Logger
  /** Least recently asked for first. */
  readonly #agents = new Map<string, Agent<P>>()
  /** Those that were dropped and have not ended yet. */
  readonly #endings = new Set<Ending<P>>()

  constructor(capacity: number, makeParts: (sessionId: string) => P, logger: Logger) {
    this.#capacity = capacity
    this.#makeParts = makeParts
    this.#logger = logger
  }

  get(sessionId: string): Agent<P> {
    const agent = this.#agents.get(sessionId) ?? this.#make(sessionId)
    this.#agents.delete(sessionId)
    this.#agents.set(sessionId, agent)
    this.#makeRoom(agent)
    return agent
  }

  /** Drops an agent; its users go on with its connections (GA 16.1). False when there is none. */
  stop(sessionId: string): boolean {
    const agent = this.#agents.get(sessionId)
    if (agent === undefined) return false
    this.#agents.delete(sessionId)
    let end = (): void => undefined
    const ended = new Promise<void>((resolve) => (end = resolve))
    const ending = { agent, ended, end }
    this.#endings.add(ending)
    if (!agent.isUsed) this.#close(ending)
    return true
  }

  /** Ends what a session has had of agents, used or not, and waits for it (G29). */
  async end(sessionId: string): Promise<void> {
    this.stop(sessionId)
    const endings = [...this.#endings].filter(({ agent }) => agent.sessionId === sessionId)
    for (const ending of endings) this.#close(ending)
    await Promise.all(endings.map(({ ended }) => ended))
  }

  /** Drops all agents, and waits until the connections of those are closed that nobody uses. */
  async stopAll(): Promise<void> {
    for (const id of [...this.#agents.keys()]) this.stop(id)
    await Promise.all([...this.#endings].filter(({ closing }) => closing !== undefined).map(({ ended }) => ended))
  }

  /** Waits for the rest, too. */
  async closed(): Promise<void> {
    await Promise.all([...this.#endings].map(({ ended }) => ended))
  }

  #make(sessionId: string): Agent<P> {
    const agent = new Agent<P>(sessionId, this.#makeParts(sessionId), () => {
      for (const ending of this.#endings) if (ending.agent === agent) this.#close(ending)
      this.#makeRoom()
    })
    return agent
  }

  /** Drops idle agents while there are too many, but for one that is about to be used. */
  #makeRoom(asked?: Agent<P>): void {
    for (const [id, agent] of this.#agents) {
      if (this.#agents.size <= this.#capacity) break
      if (agent !== asked && !agent.isUsed) this.stop(id)
    }
  }

  /** Closes the connections, and ends the agent when nobody uses it. */
  #close(ending: Ending<P>): void {
    ending.closing ??= this.#closeParts(ending.agent)
    void ending.closing.then(() => {
      if (!ending.agent.isUsed && this.#endings.delete(ending)) ending.end()
    })
  }

  /** Never rejects. */
  async #closeParts({ sessionId, parts }: Agent<P>): Promise<void> {
    try {
      await parts.extensions.close()
    } catch (err) {
      this.#logger.warn('agent not closed', { session: sessionId, err })
    }
  }
}
