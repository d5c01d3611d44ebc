import { JsonDocument } from '../wire/json/document.ts'
import { numberOf } from '../wire/json/number.ts'

/**
 * The typed value of an environment variable (GA 1.4, G14). The text is tried as JSON, then as `true` or `false` in any case,
 * then as an integer, then as another number as people write it. Otherwise the value is the text itself. So `8080` is a number
 * and `"8080"` is a string.
 */
export function typedValue(text: string): unknown {
  try {
    return new JsonDocument(text).value
  } catch {
    // It is not JSON, like most variables.
  }
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  if (/^[+-]?\d+$/.test(text)) {
    const exact = BigInt(text.replace('+', ''))
    if (BigInt.asIntN(64, exact) === exact) return numberOf(String(exact), Number(exact))
  }
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) {
    const value = Number(text)
    if (Number.isFinite(value)) return value
  }
  return text
}
