/**
 * A JSON number that JavaScript would round or write differently: `1.0`, `1e3`, 9007199254740993. Values that the server only
 * passes on keep such numbers, so they leave unchanged (G2).
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

  /** Called by JSON.stringify, which cannot write the digits; `stringifyJson` can. */
  toJSON(): number {
    JsonNumber.rounded++
    return this.valueOf()
  }
}

/** The value of a JSON number: a plain number if that has the same text. */
export function numberOf(text: string, value: number): number | JsonNumber {
  return String(value) === text ? value : new JsonNumber(text)
}
