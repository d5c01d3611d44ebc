import { mapLeaves } from '../../wire/json/map-leaves.ts'
import { isBlank } from '../../text/white-space.ts'
import { Budget } from './budget.ts'
import { SchemaError, checkSchema } from './json-schema.ts'
import type { Recipe, RecipeParameter, RetryConfig } from './recipe.ts'
import { TemplateError } from './template-error.ts'
import { parseTemplate } from './template-parser.ts'

/** Why a recipe cannot be used. */
export class InvalidRecipeError extends Error {
  override readonly name = 'InvalidRecipeError'
}

/** The variable that every recipe can use. */
export const recipeDirectory = 'recipe_dir'

/** Checks the rules of GA 11.2. Throws an InvalidRecipeError for the first one that the recipe breaks (G21). */
export function validateRecipe(recipe: Recipe): void {
  const { parameters = [] } = recipe
  checkDefaults(parameters)
  checkVariables(recipe, parameters)
  if (isBlank(recipe.instructions ?? '') && isBlank(recipe.prompt ?? '')) {
    throw new InvalidRecipeError('Recipe must specify at least one of `instructions` or `prompt`.')
  }
  const broken = recipe.retry && retryProblem(recipe.retry)
  if (broken !== undefined) throw new InvalidRecipeError(`Invalid retry configuration: ${broken}`)
  if (recipe.response?.json_schema !== undefined) checkResponse(recipe.response.json_schema)
}

function checkResponse(schema: unknown): void {
  try {
    checkSchema(schema)
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    throw new InvalidRecipeError(`JSON schema validation failed: ${error.message}`, { cause: error })
  }
}

function checkDefaults(parameters: readonly RecipeParameter[]): void {
  const keys = (wrong: (parameter: RecipeParameter) => boolean): string => parameters.filter(wrong).map(({ key }) => key).join(', ')
  const files = keys((parameter) => parameter.input_type === 'file' && parameter.default !== undefined)
  if (files !== '') {
    throw new InvalidRecipeError(`File parameters cannot have default values to avoid importing sensitive user files: ${files}`)
  }
  const optional = keys((parameter) => parameter.requirement === 'optional' && parameter.input_type !== 'file' && parameter.default === undefined)
  if (optional !== '') {
    throw new InvalidRecipeError(`Optional parameters missing default values in the recipe: ${optional}. Please provide defaults.`)
  }
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
  if (problems.length > 0) throw new InvalidRecipeError(problems.join('\n'))
}

/** The first rule of GA 25.2 that a retry breaks. */
function retryProblem(retry: RetryConfig): string | undefined {
  if (retry.max_retries < 1) return 'max_retries must be greater than 0'
  const times = ['timeout_seconds', 'on_failure_timeout_seconds'] as const
  const broken = times.find((name) => (retry[name] ?? 1) < 1)
  return broken && `${broken} must be greater than 0 if specified`
}

/** The variables in the texts and keys of a recipe (G19). */
function variablesOf(recipe: Recipe): Set<string> {
  const names = new Set<string>()
  const budget = new Budget()
  const look = (text: string): string => {
    if (text.includes('{')) for (const name of parseTemplate(text, budget).variables) names.add(name)
    return text
  }
  try {
    mapLeaves(recipe, (leaf) => (typeof leaf === 'string' ? look(leaf) : leaf), look)
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    throw new InvalidRecipeError(`Invalid template: ${error.message}`, { cause: error })
  }
  return names
}
