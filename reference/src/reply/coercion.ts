import { isObject } from '../json/is-object.ts'
import { JsonNumber, numberOf } from '../json/number.ts'
import type { JsonObject } from '../json/shape.ts'

/** The arguments with texts converted where the schema wants a number or a boolean, and the text is one (GA 7.8). */
export function coerced(args: JsonObject, schema: JsonObject): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {}
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, coercedValue(value, typesOf(properties, name))]))
}

function typesOf(properties: JsonObject, name: string): unknown[] {
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined
  const type = isObject(property) ? property.type : undefined
  return Array.isArray(type) ? (type as unknown[]) : [type]
}

function coercedValue(value: unknown, types: readonly unknown[]): unknown {
  if (typeof value !== 'string' || types.includes('string')) return value
  if (types.includes('integer') && /^-?(?:0|[1-9]\d*)$/.test(value)) return numberOf(value, Number(value))
  if (types.includes('number') && isNumber(value)) return numberOf(value, Number(value))
  if (types.includes('boolean') && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

/** A number as JSON writes it, which a double can hold. */
function isNumber(text: string): boolean {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) && Number.isFinite(new JsonNumber(text).valueOf())
}
