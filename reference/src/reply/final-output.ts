import type { JsonObject } from '../json/shape.ts'
import { stringifyJson } from '../json/stringify.ts'
import type { Result } from '../message/result.ts'
import type { ToolContent } from '../message/tool-content.ts'
import { matchesSchema } from '../recipe/json-schema.ts'

/** What the model is told when it ends without the output. */
export const outputOrder = 'The final output is missing. Call the tool recipe__final_output with it now.'

/** The output that a recipe wants, of one reply (GA 7.13, M34). */
export class FinalOutput {
  readonly isAsked: boolean
  readonly #schema: unknown
  #output: string | undefined

  constructor(wanted: { schema: unknown } | undefined) {
    this.isAsked = wanted !== undefined
    this.#schema = wanted?.schema
  }

  /** The output as JSON on one line, once it has been given. */
  get output(): string | undefined {
    return this.#output
  }

  /** Takes the output if it is what the recipe wants. */
  give(output: JsonObject): Result<ToolContent[]> {
    if (!this.#matches(output)) return { status: 'error', error: '-32602: The final output does not match its schema' }
    this.#output = stringifyJson(output)
    return { status: 'success', value: [{ type: 'text', text: 'The final output was accepted.' }] }
  }

  #matches(output: JsonObject): boolean {
    try {
      return this.#schema === undefined || matchesSchema(this.#schema, output)
    } catch {
      return false // a schema that is none matches nothing
    }
  }
}
