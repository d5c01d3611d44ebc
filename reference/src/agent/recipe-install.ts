import type { Recipe } from '../recipe/recipe.ts'
import type { Agent } from './agent.ts'

/** What clients of the desktop add to the system prompt (M17). */
export const desktopPrompt = 'The person talks to you in a desktop application.'

/** Makes the tasks of a recipe's sub-recipes available, and its instructions known if it has any (GA 6.3, 9.9). */
export function installRecipe(agent: Agent, recipe: Recipe): void {
  for (const sub of recipe.sub_recipes ?? []) agent.subRecipes.set(sub.name, sub)
  if (recipe.instructions !== undefined) agent.clientPrompt = `You follow a recipe. Its instructions are:\n\n${recipe.instructions}`
}

/** Asks for the final output of a recipe, if it has a schema for one (G16). */
export function installFinalOutput(agent: Agent, recipe: Recipe): void {
  const schema = recipe.response?.json_schema
  if (schema !== undefined && schema !== null) agent.finalOutput = { schema }
}
