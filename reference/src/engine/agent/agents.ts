import type { Logger } from '../../log.ts'
import type { Agent } from './agent.ts'

/** An agent that was dropped. */
interface Ending {
  agent: Agent
  /** Set once the server closes the agent's connections; resolves when they are closed. */
  closing?: Promise<void>
  /** Resolves when the connections are closed and nobody uses the agent. */
  ended: Promise<void>
  end: () => void
}

/** Makes the agent of a session. The agent calls `onIdle` each time its last user releases it. */
type MakeAgent = (sessionId: string, onIdle: () => void) => Agent

/**
 * The agents in memory. Above the capacity, idle agents are dropped, the least recently used ones first (GA 6, G16). An agent is
 * made on first use, even for an unknown session.
 */
export class Agents {
  readonly #capacity: number
  readonly #makeAgent: MakeAgent
  readonly #logger: Logger
  /** Ordered by use, the least recently used agent first. */
  readonly #agents = new Map<string, Agent>()
  /** Agents that were dropped but have not ended yet. */
  readonly #endings = new Set<Ending>()

  constructor(capacity: number, makeAgent: MakeAgent, logger: Logger) {
    this.#capacity = capacity
    this.#makeAgent = makeAgent
    this.#logger = logger
  }

  get(sessionId: string): Agent {
    const agent = this.#agents.get(sessionId) ?? this.#make(sessionId)
    this.#agents.delete(sessionId)
    this.#agents.set(sessionId, agent)
    this.#makeRoom(agent)
    return agent
  }

  /** Stops and drops an agent; its users keep its connections (GA 16.1). Returns false if there is no such agent. */
  stop(sessionId: string): boolean {
    const agent = this.#agents.get(sessionId)
    if (agent === undefined) return false
    agent.stop()
    this.#drop(agent)
    return true
  }

  #drop(agent: Agent): void {
    this.#agents.delete(agent.session.id)
    let end = (): void => undefined
    const ended = new Promise<void>((resolve) => (end = resolve))
    const ending = { agent, ended, end }
    this.#endings.add(ending)
    if (!agent.isUsed) this.#close(ending)
  }

  /** Ends all agents that a session has had, idle or in use, and waits until they have ended (G29). */
  async end(sessionId: string): Promise<void> {
    this.stop(sessionId)
    const endings = [...this.#endings].filter(({ agent }) => agent.session.id === sessionId)
    for (const ending of endings) this.#close(ending)
    await Promise.all(endings.map(({ ended }) => ended))
  }

  /** Drops all agents, and waits until the connections of the idle ones are closed. */
  async stopAll(): Promise<void> {
    for (const agent of [...this.#agents.values()]) this.#drop(agent)
    await Promise.all([...this.#endings].filter(({ closing }) => closing !== undefined).map(({ ended }) => ended))
  }

  /** Waits until all dropped agents have ended. */
  async closed(): Promise<void> {
    await Promise.all([...this.#endings].map(({ ended }) => ended))
  }

  #make(sessionId: string): Agent {
    const agent = this.#makeAgent(sessionId, () => {
      for (const ending of this.#endings) if (ending.agent === agent) this.#close(ending)
      this.#makeRoom()
    })
    return agent
  }

  /** Drops idle agents while there are too many, except the one that is about to be used. */
  #makeRoom(asked?: Agent): void {
    for (const agent of this.#agents.values()) {
      if (this.#agents.size <= this.#capacity) break
      if (agent !== asked && !agent.isUsed) this.#drop(agent)
    }
  }

  /** Closes the connections, and marks the agent as ended once nobody uses it. */
  #close(ending: Ending): void {
    ending.closing ??= this.#closeExtensions(ending.agent)
    void ending.closing.then(() => {
      if (!ending.agent.isUsed && this.#endings.delete(ending)) ending.end()
    })
  }

  /** Never rejects. */
  async #closeExtensions({ session, extensions }: Agent): Promise<void> {
    try {
      await extensions.close()
    } catch (err) {
      this.#logger.warn('agent not closed', { session: session.id, err })
    }
  }
}
