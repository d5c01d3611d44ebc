import type { FinalOutputSchema } from '../../domain/recipe/json-schema.ts'
import type { SubRecipe } from '../../domain/recipe/recipe.ts'
import type { Provider } from '../../llm/model.ts'
import type { AgentExtensions } from '../../mcp/agent-extensions.ts'
import type { SessionHandle } from '../../store/session-handle.ts'

/** The reason why calls of client tools end when their agent is stopped (CT 11.6). */
export class AgentStoppedError extends Error {
  override readonly name = 'AgentStoppedError'
}

/** The agent of one session while it is in memory (GA 6). A new agent has no provider. */
export class Agent {
  readonly session: SessionHandle
  readonly extensions: AgentExtensions
  provider: Provider | null = null
  /** The text that a client has added to the system prompt; a later text replaces it (M16, M17). */
  clientPrompt: string | null = null
  /** The sub-recipes from which the agent can make tasks, by name. */
  readonly subRecipes = new Map<string, SubRecipe>()
  /** The schema of the final output; undefined when none is requested. */
  finalOutput: FinalOutputSchema | undefined
  #users = 0
  readonly #stopped = new AbortController()
  readonly #onIdle: () => void

  /** Calls `onIdle` each time the last user of the agent releases it. */
  constructor(session: SessionHandle, extensions: AgentExtensions, onIdle: () => void) {
    this.session = session
    this.extensions = extensions
    this.#onIdle = onIdle
  }

  /** Aborted with an AgentStoppedError when the agent is stopped. Replies keep a stopped agent until they end (GA 16.1). */
  get stopped(): AbortSignal {
    return this.#stopped.signal
  }

  stop(): void {
    this.#stopped.abort(new AgentStoppedError('The agent was stopped'))
  }

  get isUsed(): boolean {
    return this.#users > 0
  }

  /** Keeps the connections open until the returned function is called, even if the agent is dropped meanwhile. */
  use(): () => void {
    this.#users++
    let released = false
    return () => {
      if (released) return
      released = true
      this.#users--
      if (this.#users === 0) this.#onIdle()
    }
  }
}
