import type { JsonObject } from '../../wire/json/shape.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { textResult, type Result } from '../../domain/message/result.ts'
import type { ToolContent } from '../../domain/message/tool-content.ts'
import { SchemaError, type FinalOutputSchema } from '../../domain/recipe/json-schema.ts'
import type { RecipeWorker } from '../../domain/recipe/recipe-worker.ts'

/** The instruction for a model that stops without the final output. */
export const outputOrder = 'You MUST call the `final_output` tool NOW with the final output for the user.'

/** The final output that a recipe requires, for one reply (GA 7.13, 7.14). */
export class FinalOutput {
  /** The schema for the current turn. A schema that is installed meanwhile counts from the next turn on (M34). */
  wanted: FinalOutputSchema | undefined
  readonly #recipeWorker: RecipeWorker
  #output: string | undefined

  constructor(recipeWorker: RecipeWorker) {
    this.#recipeWorker = recipeWorker
  }

  /** The output as one line of JSON, once the model has given it. */
  get output(): string | undefined {
    return this.#output
  }

  /** Accepts the output if it matches the schema. Rejects only if the signal is aborted. */
  async give(output: JsonObject, signal: AbortSignal): Promise<Result<ToolContent[]>> {
    const { wanted } = this
    if (wanted === undefined) return { status: 'error', error: '-32603: Final output tool not defined' }
    const faults = await this.#faultsIn(output, wanted, signal)
    if (faults.length > 0) return { status: 'error', error: `-32602: ${refusal(faults, wanted)}` }
    this.#output = stringifyJson(output)
    return textResult('Final output successfully collected.')
  }

  async #faultsIn(value: JsonObject, { schema }: FinalOutputSchema, signal: AbortSignal): Promise<string[]> {
    try {
      return await this.#recipeWorker.run('checkOutput', { schema, value }, signal)
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error
      return [`- : ${error.message}`]
    }
  }
}

function refusal(faults: readonly string[], { shown }: FinalOutputSchema): string {
  const order = 'Please correct your output to match the expected JSON schema and try again.'
  return `Validation failed:\n${faults.join('\n')}\n\nExpected format:\n${shown}\n\n${order}`
}
