import type { Recipe } from '../domain/recipe/recipe.ts'
import { perform, resultOf, taskRequest, type TaskName, type Tasks } from '../domain/recipe/recipe-tasks.ts'
import type { RecipeWorker } from '../domain/recipe/recipe-worker.ts'
import { stringifyJson } from '../wire/json/stringify.ts'

/** The text of a recipe link: the recipe's compact JSON in base64, with the URL-safe alphabet and without padding (GA 11.3). */
export function encodeDeeplink(linked: Recipe): string {
  return Buffer.from(stringifyJson(linked)).toString('base64url')
}

/** Runs the tasks at once, in the calling thread. */
export const inlineRecipeWorker: RecipeWorker = {
  // eslint-disable-next-line @typescript-eslint/require-await -- others do it elsewhere
  run: async <N extends TaskName>(name: N, given: Tasks[N]['given']) => resultOf(perform(taskRequest(name, given))) as Tasks[N]['result'],
  // eslint-disable-next-line @typescript-eslint/require-await -- there is nothing to close
  close: async () => undefined,
}
