import type { McpTool } from '../../domain/extension/config.ts'
import type { ToolCall } from '../../domain/message/result.ts'
import { isObject } from '../../wire/json/is-object.ts'
import { numberOf } from '../../wire/json/number.ts'
import { objectOf } from '../../wire/json/ordered.ts'
import type { JsonObject } from '../../wire/json/shape.ts'

/** The call as it runs: with the types that its tool wants, if it is one of these. */
export function converted(call: ToolCall, tools: readonly McpTool[]): ToolCall {
  const tool = tools.find(({ name }) => name === call.name)
  return tool === undefined || call.arguments === undefined ? call : { ...call, arguments: coerced(call.arguments, tool.inputSchema) }
}

/** Converts text arguments to the number or boolean that the schema requires, if the text is one (GA 7.8, M49). */
export function coerced(args: JsonObject, schema: JsonObject): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {}
  return objectOf(Object.entries(args).map(([name, value]) => [name, coercedValue(value, typeOf(properties, name))]))
}

function typeOf(properties: JsonObject, name: string): unknown {
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined
  return isObject(property) ? property.type : undefined
}

function coercedValue(value: unknown, type: unknown): unknown {
  if (typeof value !== 'string') return value
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  const isNumber = (type === 'number' && number.test(value)) || (type === 'integer' && integer.test(value))
  return isNumber ? numberOf(value, Number(value)) : value
}

/** A number as JSON writes it (RFC 8259 §6). */
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const integer = /^-?(?:0|[1-9]\d*)$/
