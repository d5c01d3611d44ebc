import { readdirSync, realpathSync } from 'node:fs'
import { delimiter, extname, join } from 'node:path'
import { isObject } from '../json/is-object.ts'
import { readShape } from '../json/shape.ts'
import type { Settings } from '../settings/settings.ts'
import { parseYaml } from '../settings/yaml-file.ts'
import { writtenRecipe } from './recipe.ts'
import type { Recipe } from './recipe.ts'
import { pathId } from './path-id.ts'
import { readSmallFile, recipeLibrary } from './render.ts'

/** A file with a recipe, as it was when it was listed. */
export interface RecipeFile {
  id: string
  path: string
  recipe: Recipe
}

/** The recipes that lie in files (GA 11.1), and which id means which of them. */
export class RecipeLibrary {
  readonly #settings: Settings
  /** That of the server (S18). */
  readonly #directory: string
  readonly #paths = new Map<string, string>()

  constructor(settings: Settings, directory: string) {
    this.#settings = settings
    this.#directory = directory
  }

  /** All recipes, by directory and then by name. From now on exactly these have ids. */
  list(): RecipeFile[] {
    const files = this.#directories().flatMap(recipesIn)
    this.#paths.clear()
    for (const { id, path } of files) this.#paths.set(id, path)
    return files
  }

  /** The path that an id means; undefined when there is none, also after a new look. */
  pathOf(id: string): string | undefined {
    if (!this.#paths.has(id)) this.list()
    return this.#paths.get(id)
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

/** Reads the recipe of a file. Throws when it cannot be read, or is no recipe. */
export function readRecipeFile(path: string): Recipe {
  return parseRecipe(readSmallFile(path))
}

/** The recipe of a YAML text, which may be the whole or the value of the key `recipe` (GA 11.2). Throws when it is none. */
export function parseRecipe(text: string): Recipe {
  const value = parseYaml(text)
  return readShape(writtenRecipe, isObject(value) && 'recipe' in value ? value.recipe : value)
}

function recipesIn(directory: string): RecipeFile[] {
  return plainFiles(directory)
    .filter((name) => ['.yaml', '.json'].includes(extname(name)))
    .sort()
    .flatMap((name) => {
      const path = join(directory, name)
      try {
        return [{ id: pathId(path), path, recipe: readRecipeFile(path) }]
      } catch {
        return [] // many a YAML file is something else
      }
    })
}

function plainFiles(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile()).map(({ name }) => name)
  } catch {
    return []
  }
}
