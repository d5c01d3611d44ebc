import { JsonNumber } from '../json/number.ts'
import type { JsonObject } from '../json/shape.ts'

/** What went wrong in a tool of this process; models read it (X26). */
export class ToolFault extends Error {
  override readonly name = 'ToolFault'
}

/** The arguments of a call. Each method throws a ToolFault when there is no such argument, or it is something else. */
export class Arguments {
  readonly #values: JsonObject

  constructor(values: JsonObject) {
    this.#values = values
  }

  text(name: string): string {
    const value = this.#needed(name)
    if (typeof value !== 'string') throw new ToolFault(`Invalid argument: ${name}`)
    return value
  }

  /** A text that may be missing. */
  optionalText(name: string): string | undefined {
    return this.#has(name) ? this.text(name) : undefined
  }

  /** An integer by its value, however it is written and however large. */
  integer(name: string): number {
    const value = this.#needed(name)
    const number = value instanceof JsonNumber ? Number(value) : value
    if (!Number.isInteger(number)) throw new ToolFault(`Invalid argument: ${name}`)
    return Number(number)
  }

  /** An integer that may be missing. */
  optionalInteger(name: string): number | undefined {
    return this.#has(name) ? this.integer(name) : undefined
  }

  #needed(name: string): unknown {
    if (!this.#has(name)) throw new ToolFault(`Missing required parameter: ${name}`)
    return this.#values[name]
  }

  /** Null is as good as nothing. */
  #has(name: string): boolean {
    const value = this.#values[name]
    return value !== undefined && value !== null
  }
}
