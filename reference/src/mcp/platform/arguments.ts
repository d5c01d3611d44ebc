import { JsonNumber } from '../../wire/json/number.ts'
import type { JsonObject } from '../../wire/json/shape.ts'

/** A failed call of a tool in this process. Models read its message (X26). */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}

/** The arguments of a call. Each method throws a ToolError if the argument is missing, or has the wrong type. */
export class Arguments {
  readonly #values: JsonObject

  constructor(values: JsonObject) {
    this.#values = values
  }

  text(name: string): string {
    const value = this.#needed(name)
    if (typeof value !== 'string') throw new ToolError(`Invalid argument: ${name}`)
    return value
  }

  /** A text that may be missing. */
  optionalText(name: string): string | undefined {
    return this.#has(name) ? this.text(name) : undefined
  }

  /** An integer by its value, in any notation and of any size. */
  integer(name: string): number {
    const value = this.#needed(name)
    const number = value instanceof JsonNumber ? Number(value) : value
    if (!Number.isInteger(number)) throw new ToolError(`Invalid argument: ${name}`)
    return Number(number)
  }

  /** An integer that may be missing. */
  optionalInteger(name: string): number | undefined {
    return this.#has(name) ? this.integer(name) : undefined
  }

  #needed(name: string): unknown {
    if (!this.#has(name)) throw new ToolError(`Missing required parameter: ${name}`)
    return this.#values[name]
  }

  /** Null counts as missing. */
  #has(name: string): boolean {
    const value = this.#values[name]
    return value !== undefined && value !== null
  }
}
