import type { FinalOutputSchema } from '../../domain/recipe/json-schema.ts'
import type { Recipe } from '../../domain/recipe/recipe.ts'
import type { Agent } from './agent.ts'

/** The text that desktop clients add to the system prompt (M17). */
const desktopPrompt = 'The person talks to you in a desktop application.'

/**
 * Replaces an agent's sub-recipes by those of a recipe. If the recipe has instructions, they replace the client's prompt (GA 6.3,
 * 9.9, G31).
 */
export function installRecipe(agent: Agent, recipe: Recipe): void {
  agent.subRecipes.clear()
  for (const sub of recipe.sub_recipes ?? []) agent.subRecipes.set(sub.name, sub)
  if (recipe.instructions !== undefined) agent.clientPrompt = `You follow a recipe. Its instructions are:\n\n${recipe.instructions}`
}

/** Sets up an agent for the current state of its session; nothing of an earlier recipe remains (G31). */
export function installSession(agent: Agent, recipe: Recipe | null, finalOutput: FinalOutputSchema | undefined): void {
  agent.clientPrompt = desktopPrompt
  agent.finalOutput = finalOutput
  if (recipe === null) agent.subRecipes.clear()
  else installRecipe(agent, recipe)
}
