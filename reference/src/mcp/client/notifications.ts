import type * as contract from '#contract'
import { anything, int64, jsonObject, number, object, omittable, oneOf, readShape, string, type Shape } from '../../wire/json/shape.ts'

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

const token: Shape<contract.ProgressToken> = (place) => (typeof place.value === 'string' ? place.value : int64(place))

/** A number with its original digits, which may be a JsonNumber. */
const digits: Shape<number> = (place) => {
  number(place)
  return place.value as number
}

const logMessage = object<contract.LoggingMessage>({
  level: oneOf(...levels),
  logger: omittable(string),
  data: anything,
  _meta: omittable(jsonObject),
})

const progress = object<contract.Progress>({
  progressToken: token,
  progress: digits,
  total: omittable(digits),
  message: omittable(string),
  _meta: omittable(jsonObject),
})

/**
 * A notification in the form in which replies forward it (GA 4.6, X8). Undefined for other notifications, and for invalid
 * members.
 */
export function notificationOf(method: string, params: unknown): contract.ServerNotification | undefined {
  try {
    if (method === 'notifications/message') return { method, params: readShape(logMessage, params) }
    if (method === 'notifications/progress') return { method, params: readShape(progress, params) }
    return undefined
  } catch {
    return undefined
  }
}
