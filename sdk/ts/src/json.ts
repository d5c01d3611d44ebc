export type JsonObject = Record<string, unknown>

/** What one event, message or response may have (S60). */
export const maxBytes = 16 * 1024 * 1024

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a JSON text; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
