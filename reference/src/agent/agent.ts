import type { FinalOutputSchema } from '../recipe/json-schema.ts'
import type { SubRecipe } from '../recipe/recipe.ts'
import type { AgentParts, Provider } from './parts.ts'

/** The engine of one session, while it is in memory (GA 6). A new one has no provider. */
export class Agent<P extends AgentParts = AgentParts> {
  readonly sessionId: string
  readonly parts: P
  provider: Provider | null = null
  /** What clients have added to the system prompt; what comes later takes its place (M16, M17). */
  clientPrompt: string | null = null
  /** The sub-recipes that it can make tasks of, by name. */
  readonly subRecipes = new Map<string, SubRecipe>()
  /** What the final output has to look like; undefined when none is asked for. */
  finalOutput: FinalOutputSchema | undefined
  #users = 0
  readonly #onIdle: () => void

  /** `onIdle` is called each time the last user of the agent releases it. */
  constructor(sessionId: string, parts: P, onIdle: () => void) {
    this.sessionId = sessionId
    this.parts = parts
    this.#onIdle = onIdle
  }

  get isUsed(): boolean {
    return this.#users > 0
  }

  /** Keeps the connections open, also when the agent is dropped meanwhile, until the function that is returned is called. */
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
