import type { FinalOutputSchema } from '../../domain/recipe/json-schema.ts'
import type { Recipe } from '../../domain/recipe/recipe.ts'
import type { Agent } from './agent.ts'

/** What clients of the desktop add to the system prompt (M17). */
const desktopPrompt = 'The person talks to you in a desktop application.'

/**
 * Gives an agent the sub-recipes of a recipe, in the place of earlier ones, and its instructions if it has any
 * (GA 6.3, 9.9, G31).
 */
export function installRecipe(agent: Agent, recipe: Recipe): void {
  agent.subRecipes.clear()
  for (const sub of recipe.sub_recipes ?? []) agent.subRecipes.set(sub.name, sub)
  if (recipe.instructions !== undefined) agent.clientPrompt = `You follow a recipe. Its instructions are:\n\n${recipe.instructions}`
}

/** Makes an agent follow its session as it is now; nothing of an earlier recipe stays (G31). */
export function installSession(agent: Agent, recipe: Recipe | null, finalOutput: FinalOutputSchema | undefined): void {
  agent.clientPrompt = desktopPrompt
  agent.finalOutput = finalOutput
  if (recipe === null) agent.subRecipes.clear()
  else installRecipe(agent, recipe)
}
