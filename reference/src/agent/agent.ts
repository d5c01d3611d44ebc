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
  #dropped = false
  readonly #onUnused: () => void

  /** `onUnused` is called once, when the agent is neither kept nor used any more. */
  constructor(sessionId: string, parts: P, onUnused: () => void) {
    this.sessionId = sessionId
    this.parts = parts
    this.#onUnused = onUnused
  }

  /** Keeps the connections open, also when the agent is dropped meanwhile, until the function that is returned is called. */
  use(): () => void {
    this.#users++
    let released = false
    return () => {
      if (released) return
      released = true
      this.#users--
      this.#closeIfUnused()
    }
  }

  /** Takes the agent out of use. Who uses it goes on (GA 16.1). */
  drop(): void {
    this.#dropped = true
    this.#closeIfUnused()
  }

  #closeIfUnused(): void {
    if (this.#dropped && this.#users === 0) this.#onUnused()
  }
}
