import { isObject } from '../../wire/json/is-object.ts'
import type { Settings } from '../../settings/settings.ts'

/** A slash command that stands for a recipe, as it is stored. */
interface RecipeCommand {
  command: string
  /** The path of the recipe. */
  path: string
}

/** The slash commands in the settings, in their order (GA 7.11). Elements that are no commands are skipped (G33). */
export function recipeCommands(settings: Settings): RecipeCommand[] {
  const set = settings.get('slash_commands')
  if (!Array.isArray(set)) return []
  return (set as unknown[]).flatMap((one) => {
    if (!isObject(one) || typeof one.command !== 'string' || typeof one.recipe_path !== 'string') return []
    return [{ command: one.command, path: one.recipe_path }]
  })
}
