import { array, jsonObject, object, omittable, oneOf, string, tagged } from '../../wire/json/shape.ts'
import type * as contract from '#contract'
import type { Shape } from '../../wire/json/shape.ts'
import { toolContent } from './tool-content.ts'
import type { ToolContent } from './tool-content.ts'

/** The result of an operation, or its error (GA 4.3). */
export type Result<T> = Success<T> | contract.ResultError

interface Success<T> {
  status: 'success'
  value: T
}

/** A tool call by a model. It may have no arguments. */
export type ToolCall = contract.ToolCall

export function result<T>(value: Shape<T>): Shape<Result<T>> {
  const success: Shape<Success<T>> = (place) => {
    const read = object<Success<unknown>>({ status: oneOf('success'), value })(place)
    return read as Success<T> // the compiler cannot see that `value` reads a T
  }
  return tagged<Result<T>>('status', { success, error: object<contract.ResultError>({ status: oneOf('error'), error: string }) })
}

const call: Shape<ToolCall> = object<ToolCall>({ name: string, arguments: omittable(jsonObject) })

export const toolCall: Shape<Result<ToolCall>> = result(call)
export const toolResult: Shape<Result<ToolContent[]>> = result(array(toolContent))
