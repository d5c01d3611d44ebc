import { isObject } from '../../wire/json/is-object.ts'
import { readShape } from '../../wire/json/shape.ts'
import { readRegularFile } from '../../settings/regular-file.ts'
import { parseYaml } from '../../wire/yaml/yaml.ts'
import { writtenRecipe, type Recipe } from './recipe.ts'

/** A file cannot be read, or does not contain a recipe. */
export class UnreadableRecipeError extends Error {
  override readonly name = 'UnreadableRecipeError'
}

/** Reads the recipe in a file. Throws an UnreadableRecipeError. */
export function readRecipeFile(path: string): Recipe {
  try {
    return parseRecipe(readRegularFile(path))
  } catch (cause) {
    throw new UnreadableRecipeError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

/** The recipe in a YAML text, at the top level or under the key `recipe` (GA 11.2). Throws if there is no recipe. */
export function parseRecipe(yaml: Uint8Array | string): Recipe {
  const value = parseYaml(yaml)
  return readShape(writtenRecipe, isObject(value) && 'recipe' in value ? value.recipe : value)
}
