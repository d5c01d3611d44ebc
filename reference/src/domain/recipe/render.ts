import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute, join, sep } from 'node:path'
import { mapLeaves } from '../../wire/json/map-leaves.ts'
import type { Paths } from '../../settings/paths.ts'
import { readRegularFile } from '../../settings/regular-file.ts'
import { Budget } from './budget.ts'
import type { Recipe, RecipeParameter } from './recipe.ts'
import { TemplateError } from './template-error.ts'
import { TemplateRenderer, type Files } from './template-renderer.ts'
import { parseTemplate } from './template-parser.ts'
import { recipeDirectory } from './validate.ts'

/** Required parameters have neither a value nor a default. */
export class MissingParametersError extends Error {
  override readonly name = 'MissingParametersError'
}

/** The directory in which recipes are kept, and against which relative paths in recipes are resolved. */
export function recipeLibrary(paths: Paths): string {
  return join(paths.config, 'recipes')
}

/**
 * The recipe with its variables replaced (GA 11.2). A parameter without a value gets its default. Texts and keys are rendered one
 * by one (G19). Throws a MissingParametersError, or a TemplateError for any other failure.
 */
export function renderRecipe(recipe: Recipe, given: Readonly<Record<string, string>>, library: string): Recipe {
  const values = valuesOf(recipe.parameters ?? [], given)
  values.set(recipeDirectory, library)
  const rendering = new TemplateRenderer(parseTemplate, new Budget(), filesBelow(library))
  const render = (text: string): string => rendering.text(text, values)
  const rendered = mapLeaves(recipe, (leaf) => (typeof leaf === 'string' ? render(leaf) : leaf), render) as Recipe // texts stay texts
  return rendered.sub_recipes === undefined
    ? rendered
    : { ...rendered, sub_recipes: rendered.sub_recipes.map((sub) => ({ ...sub, path: existing(sub.path, library) })) }
}

function valuesOf(parameters: readonly RecipeParameter[], given: Readonly<Record<string, string>>): Map<string, unknown> {
  const values = new Map<string, unknown>()
  const missing: string[] = []
  for (const parameter of parameters) {
    const value = Object.hasOwn(given, parameter.key) ? given[parameter.key] : (parameter.default ?? undefined)
    if (value === undefined) missing.push(parameter.key)
    else values.set(parameter.key, parameter.input_type === 'file' ? contentOf(value) : value)
  }
  if (missing.length > 0) throw new MissingParametersError(`no value for ${missing.join(', ')}`)
  return values
}

/** A relative path is resolved against the working directory of the process. */
function contentOf(path: string): string {
  try {
    return readRegularFile(path).toString()
  } catch (cause) {
    throw new TemplateError(`file parameter not readable: ${path}`, { cause })
  }
}

/** The files that templates may include: those with relative names whose real path is below the library (G22). */
function filesBelow(library: string): Files {
  return (name) => {
    try {
      if (isAbsolute(name)) throw new Error('not a relative path')
      const path = realpathSync(join(library, name))
      if (!path.startsWith(realpathSync(library) + sep)) throw new Error('not below the library')
      return readRegularFile(path).toString()
    } catch (cause) {
      throw new TemplateError(`template not readable: ${name}`, { cause })
    }
  }
}

function existing(path: string, library: string): string {
  const absolute = isAbsolute(path) ? path : join(library, path)
  if (!existsSync(absolute)) throw new TemplateError(`Recipe parsing failed: Sub-recipe file does not exist: ${absolute}`)
  return absolute
}
