import type { JsonObject } from '../../json/shape.ts'

/** What went wrong in a tool; models read it (X15). */
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

  integer(name: string): number {
    const value = this.#needed(name)
    if (!Number.isSafeInteger(value)) throw new ToolFault(`Invalid argument: ${name}`)
    return Number(value)
  }

  /** A list that may be missing. */
  integers(name: string): number[] | undefined {
    const value = this.#values[name]
    if (value === undefined || value === null) return undefined
    if (!Array.isArray(value) || !value.every((one) => Number.isSafeInteger(one))) throw new ToolFault(`Invalid argument: ${name}`)
    return value.map(Number)
  }

  #needed(name: string): unknown {
    const value = this.#values[name]
    if (value === undefined || value === null) throw new ToolFault(`Missing argument: ${name}`)
    return value
  }
}
