/**
 * A number of JSON that JavaScript would write in another way, or round: `1.0`, `1e3`, 9007199254740993. Values that
 * the server only passes on keep it, so that they leave as they came (G2).
 */
export class JsonNumber {
  /** How often JSON.stringify has rounded a number. */
  static rounded = 0
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  isInteger(): boolean {
    return /^-?\d+$/.test(this.text)
  }

  /** The nearest IEEE double. */
  valueOf(): number {
    return Number(this.text)
  }

  toString(): string {
    return this.text
  }

  /** Called by JSON.stringify, which has no way to write digits; `stringifyJson` has. */
  toJSON(): number {
    JsonNumber.rounded++
    return this.valueOf()
  }
}

/** What a number of JSON is read as: a plain number wherever that says the same. */
export function numberOf(text: string, value: number): number | JsonNumber {
  return String(value) === text ? value : new JsonNumber(text)
}
