import type { JsonObject } from '../json/shape.ts'
import { stringifyJson } from '../json/stringify.ts'
import type { Result } from '../message/result.ts'
import type { ToolContent } from '../message/tool-content.ts'
import { SchemaError } from '../recipe/json-schema.ts'
import type { FinalOutputSchema } from '../recipe/json-schema.ts'
import type { Workshop } from '../recipe/workshop.ts'

/** What the model is told when it ends without the output. */
export const outputOrder = 'You MUST call the `final_output` tool NOW with the final output for the user.'

/** The output that a recipe wants, of one reply (GA 7.13, 7.14). */
export class FinalOutput {
  /** What the turn that runs has to give: what is installed meanwhile counts from the next one on (M34). */
  wanted: FinalOutputSchema | undefined
  readonly #workshop: Workshop
  #output: string | undefined

  constructor(workshop: Workshop) {
    this.#workshop = workshop
  }

  /** The output as JSON on one line, once it has been given. */
  get output(): string | undefined {
    return this.#output
  }

  /** Takes the output if it is what the recipe wants. Rejects only when the signal is aborted. */
  async give(output: JsonObject, signal: AbortSignal): Promise<Result<ToolContent[]>> {
    const { wanted } = this
    if (wanted === undefined) return { status: 'error', error: '-32603: Final output tool not defined' }
    const faults = await this.#faultsIn(output, wanted, signal)
    if (faults.length > 0) return { status: 'error', error: `-32602: ${refusal(faults, wanted)}` }
    this.#output = stringifyJson(output)
    return { status: 'success', value: [{ type: 'text', text: 'Final output successfully collected.' }] }
  }

  async #faultsIn(value: JsonObject, { schema }: FinalOutputSchema, signal: AbortSignal): Promise<string[]> {
    try {
      return await this.#workshop.do('faults', { schema, value }, signal)
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
