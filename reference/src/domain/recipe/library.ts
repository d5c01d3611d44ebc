import { realpathSync } from 'node:fs'
import { delimiter, extname, join } from 'node:path'
import { entriesIn } from '../../settings/directories.ts'
import type { Settings } from '../../settings/settings.ts'
import { pathId } from './path-id.ts'
import { UnreadableRecipeError } from './recipe-file.ts'
import { recipeLibrary } from './render.ts'
import type { RecipeWorker } from './recipe-worker.ts'

/** The recipes in files (GA 11.1), and their ids. */
export class RecipeLibrary {
  readonly #settings: Settings
  readonly #recipeWorker: RecipeWorker
  /** The working directory of the server (S18). */
  readonly #directory: string
  #paths = new Map<string, string>()

  constructor(settings: Settings, directory: string, recipeWorker: RecipeWorker) {
    this.#settings = settings
    this.#recipeWorker = recipeWorker
    this.#directory = directory
  }

  /** Lists the paths of all recipes, by directory and then by name. From then on exactly these paths have ids. */
  async list(signal?: AbortSignal): Promise<string[]> {
    const paths: string[] = []
    for (const path of this.#directories().flatMap(candidatesIn)) {
      if (await this.#isRecipe(path, signal)) paths.push(path)
    }
    this.#paths = new Map(paths.map((path) => [pathId(path), path]))
    return paths
  }

  /**
   * The path for an id. If no recipe has the id, the directories are listed again; the result is undefined if that does not help.
   */
  async pathOf(id: string, signal?: AbortSignal): Promise<string | undefined> {
    if (!this.#paths.has(id)) await this.list(signal)
    return this.#paths.get(id)
  }

  async #isRecipe(path: string, signal?: AbortSignal): Promise<boolean> {
    try {
      await this.#recipeWorker.run('check', { path }, signal)
      return true
    } catch (error) {
      if (error instanceof UnreadableRecipeError) return false // many YAML files are not recipes
      throw error
    }
  }

  /** The directories that exist, in canonical form, sorted and without duplicates. */
  #directories(): string[] {
    const more = this.#settings.variable('GOOSE_RECIPE_PATH')?.split(delimiter) ?? []
    const named = ['.', ...more, recipeLibrary(this.#settings.paths), join('.goose', 'recipes')].filter((path) => path !== '')
    const found = named.flatMap((path) => {
      try {
        return [realpathSync(path.startsWith('/') ? path : join(this.#directory, path))]
      } catch {
        return []
      }
    })
    return [...new Set(found)].sort()
  }
}

function candidatesIn(directory: string): string[] {
  const files = entriesIn(directory).filter((entry) => entry.isFile() && ['.yaml', '.json'].includes(extname(entry.name)))
  return files.map(({ name }) => join(directory, name)).sort()
}
