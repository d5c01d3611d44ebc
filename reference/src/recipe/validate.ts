import { isObject } from '../json/is-object.ts'
import { isBlank } from '../text/white-space.ts'
import { schemaProblem } from './json-schema.ts'
import type { Recipe, RecipeParameter } from './recipe.ts'
import { TemplateError } from './template-error.ts'
import { parseTemplate } from './template.ts'

/** Says why a recipe cannot be used. */
export class InvalidRecipeError extends Error {
  override readonly name = 'InvalidRecipeError'
}

/** Fields of a recipe whose texts are no templates (G19). */
export const verbatim: ReadonlySet<string> = new Set(['version', 'parameters', 'retry'])

/** The variable that every recipe has. */
export const recipeDirectory = 'recipe_dir'

/** Throws an InvalidRecipeError for the first of the rules of GA 11.2 that a recipe breaks. */
export function validateRecipe(recipe: Recipe): void {
  const { parameters = [] } = recipe
  checkDefaults(parameters)
  checkVariables(recipe, parameters)
  if (isBlank(recipe.instructions ?? '') && isBlank(recipe.prompt ?? '')) {
    throw new InvalidRecipeError('Recipe must specify at least one of `instructions` or `prompt`.')
  }
  const schema = recipe.response?.json_schema
  const problem = schema === undefined ? undefined : schemaProblem(schema)
  if (problem !== undefined) throw new InvalidRecipeError(`JSON schema validation failed: ${problem}`)
}

function checkDefaults(parameters: readonly RecipeParameter[]): void {
  const keys = (wrong: (parameter: RecipeParameter) => boolean): string => parameters.filter(wrong).map(({ key }) => key).join(', ')
  const files = keys((parameter) => parameter.input_type === 'file' && parameter.default !== undefined)
  if (files !== '') throw new InvalidRecipeError(`File parameters must not have a default: ${files}.`)
  const optional = keys((parameter) => parameter.requirement === 'optional' && parameter.input_type !== 'file' && parameter.default === undefined)
  if (optional !== '') throw new InvalidRecipeError(`Optional parameters must have a default: ${optional}.`)
}

function checkVariables(recipe: Recipe, parameters: readonly RecipeParameter[]): void {
  const used = variablesOf(recipe)
  used.delete(recipeDirectory)
  const defined = new Set(parameters.map(({ key }) => key))
  const missing = [...used].filter((name) => !defined.has(name)).sort()
  const unnecessary = [...defined].filter((key) => !used.has(key)).sort()
  const problems: string[] = []
  if (missing.length > 0) problems.push(`Missing definitions for parameters in the recipe file: ${missing.join(', ')}.`)
  if (unnecessary.length > 0) problems.push(`Unnecessary parameter definitions: ${unnecessary.join(', ')}.`)
  if (problems.length > 0) throw new InvalidRecipeError(problems.join(' '))
}

/** The variables that the texts of a recipe use. */
function variablesOf(recipe: Recipe): Set<string> {
  const names = new Set<string>()
  for (const text of templatesOf(recipe)) {
    try {
      for (const name of parseTemplate(text).variables) names.add(name)
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error
      throw new InvalidRecipeError(`Invalid template: ${error.message}`, { cause: error })
    }
  }
  return names
}

/** The texts of a recipe that are templates (G19). */
function templatesOf(recipe: Recipe): Generator<string> {
  return textsOf(Object.fromEntries(Object.entries(recipe).filter(([key]) => !verbatim.has(key))))
}

/** All texts inside a value, keys excepted. */
function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const element of value) yield* textsOf(element)
  else if (isObject(value)) for (const member of Object.values(value)) yield* textsOf(member)
}

