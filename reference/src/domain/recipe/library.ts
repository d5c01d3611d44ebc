import { readdirSync, realpathSync } from 'node:fs'
import { delimiter, extname, join } from 'node:path'
import type { Settings } from '../../settings/settings.ts'
import { pathId } from './path-id.ts'
import { UnreadableRecipeError } from './recipe-file.ts'
import { recipeLibrary } from './render.ts'
import type { RecipeWorker } from './recipe-worker.ts'

/** The recipes that lie in files (GA 11.1), and which id means which of them. */
export class RecipeLibrary {
  readonly #settings: Settings
  readonly #recipeWorker: RecipeWorker
  /** That of the server (S18). */
  readonly #directory: string
  #paths = new Map<string, string>()

  constructor(settings: Settings, directory: string, recipeWorker: RecipeWorker) {
    this.#settings = settings
    this.#recipeWorker = recipeWorker
    this.#directory = directory
  }

  /** The paths of all recipes, by directory and then by name. From now on exactly these have ids. */
  async list(signal?: AbortSignal): Promise<string[]> {
    const paths: string[] = []
    for (const path of this.#directories().flatMap(candidatesIn)) {
      if (await this.#isRecipe(path, signal)) paths.push(path)
    }
    this.#paths = new Map(paths.map((path) => [pathId(path), path]))
    return paths
  }

  /** The path that an id means; undefined when no recipe has it, even after a new look. */
  async pathOf(id: string, signal?: AbortSignal): Promise<string | undefined> {
    if (!this.#paths.has(id)) await this.list(signal)
    return this.#paths.get(id)
  }

  async #isRecipe(path: string, signal?: AbortSignal): Promise<boolean> {
    try {
      await this.#recipeWorker.run('check', { path }, signal)
      return true
    } catch (error) {
      if (error instanceof UnreadableRecipeError) return false // many a YAML file is something else
      throw error
    }
  }

  /** Canonical, sorted, each once, and without those that are not there. */
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
  return plainFiles(directory)
    .filter((name) => ['.yaml', '.json'].includes(extname(name)))
    .sort()
    .map((name) => join(directory, name))
}

function plainFiles(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile()).map(({ name }) => name)
  } catch {
    return []
  }
}
