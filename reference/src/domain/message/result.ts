import { array, jsonObject, object, omittable, string, tagged, type Shape } from '../../wire/json/shape.ts'
import type * as contract from '#contract'
import { toolContent, type ToolContent } from './tool-content.ts'

/** The result of an operation, or its error (GA 4.3). */
export type Result<T> = Success<T> | contract.ResultError

interface Success<T> {
  status: 'success'
  value: T
}

/** A tool call by a model. It may have no arguments. */
export type ToolCall = contract.ToolCall

const error = { error: string }

const call: Shape<ToolCall> = object<ToolCall>({ name: string, arguments: omittable(jsonObject) })

export const toolCall: Shape<Result<ToolCall>> = tagged<Result<ToolCall>, 'status'>('status', { success: { value: call }, error })
export const toolResult: Shape<Result<ToolContent[]>> = tagged<Result<ToolContent[]>, 'status'>('status', {
  success: { value: array(toolContent) },
  error,
})

export function textResult(text: string): Result<ToolContent[]> {
  return { status: 'success', value: [{ type: 'text', text }] }
}
