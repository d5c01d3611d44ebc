import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { isObject } from '../json/is-object.ts'
import type { Paths } from '../settings/paths.ts'
import type { Recipe, RecipeParameter } from './recipe.ts'
import { TemplateError } from './template-error.ts'
import { parseTemplate } from './template.ts'
import { recipeDirectory } from './validate.ts'

/** Says that parameters have neither a value nor a default. */
export class MissingParametersError extends Error {
  override readonly name = 'MissingParametersError'
}

/** Where recipes are kept, and what their relative paths begin at. */
export function recipeLibrary(paths: Paths): string {
  return join(paths.config, 'recipes')
}

/**
 * The recipe with values in the places of its variables (GA 11.2): of a parameter without one the default. Texts are
 * rendered one by one. Throws a MissingParametersError, or a TemplateError for everything else that is in the way.
 */
export function renderRecipe(recipe: Recipe, given: Readonly<Record<string, string>>, paths: Paths): Recipe {
  const library = recipeLibrary(paths)
  const values = valuesOf(recipe.parameters ?? [], given, library)
  values.set(recipeDirectory, library)
  const rendered = renderTexts(recipe, values) as Recipe // every text is still a text
  return rendered.sub_recipes === undefined
    ? rendered
    : { ...rendered, sub_recipes: rendered.sub_recipes.map((sub) => ({ ...sub, path: existing(sub.path, library) })) }
}

function valuesOf(parameters: readonly RecipeParameter[], given: Readonly<Record<string, string>>, library: string): Map<string, unknown> {
  const values = new Map<string, unknown>()
  const missing: string[] = []
  for (const parameter of parameters) {
    const value = Object.hasOwn(given, parameter.key) ? given[parameter.key] : parameter.default
    if (value === undefined) missing.push(parameter.key)
    else values.set(parameter.key, parameter.input_type === 'file' ? contentOf(value, library) : value)
  }
  if (missing.length > 0) throw new MissingParametersError(`no value for ${missing.join(', ')}`)
  return values
}

function contentOf(path: string, library: string): string {
  try {
    return readFileSync(resolve(library, path), 'utf8')
  } catch (cause) {
    throw new TemplateError(`file parameter not readable: ${path}`, { cause })
  }
}

function renderTexts(value: unknown, values: ReadonlyMap<string, unknown>): unknown {
  if (typeof value === 'string') return parseTemplate(value).render(values)
  if (Array.isArray(value)) return value.map((element) => renderTexts(element, values))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, renderTexts(member, values)]))
}

function existing(path: string, library: string): string {
  const absolute = isAbsolute(path) ? path : join(library, path)
  if (!existsSync(absolute)) throw new TemplateError(`sub-recipe not found: ${absolute}`)
  return absolute
}
