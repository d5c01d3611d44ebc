import type { FinalOutputSchema } from '../recipe/json-schema.ts'
import type { Recipe } from '../recipe/recipe.ts'
import type { Agent } from './agent.ts'

/** What clients of the desktop add to the system prompt (M17). */
export const desktopPrompt = 'The person talks to you in a desktop application.'

/**
 * Makes the tasks of a recipe's sub-recipes available in the place of those of earlier ones, and its instructions known if it
 * has any (GA 6.3, 9.9, G31).
 */
export function installRecipe(agent: Agent, recipe: Recipe): void {
  agent.subRecipes.clear()
  for (const sub of recipe.sub_recipes ?? []) agent.subRecipes.set(sub.name, sub)
  if (recipe.instructions !== undefined) agent.clientPrompt = `You follow a recipe. Its instructions are:\n\n${recipe.instructions}`
}

/** Makes an agent follow its session as it is now: of what it was given before nothing stays (G31). */
export function installSession(agent: Agent, recipe: Recipe | null, finalOutput: FinalOutputSchema | undefined): void {
  agent.clientPrompt = desktopPrompt
  agent.finalOutput = finalOutput
  if (recipe === null) agent.subRecipes.clear()
  else installRecipe(agent, recipe)
}
