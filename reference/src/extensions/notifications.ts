import { anything, int64, jsonObject, number, object, omittable, oneOf, readShape, string } from '../json/shape.ts'
import type { Int64, JsonObject, Shape } from '../json/shape.ts'
import type { McpNotification } from '../reply/events.ts'

interface LogMessage {
  level: string
  logger?: string
  data: unknown
  _meta?: JsonObject
}

interface Progress {
  progressToken: string | Int64
  progress: unknown
  total?: unknown
  message?: string
  _meta?: JsonObject
}

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

const token: Shape<string | Int64> = (place) => (typeof place.value === 'string' ? place.value : int64(place))

/** A number as it was written. */
const digits: Shape<unknown> = (place) => {
  number(place)
  return place.value
}

/** The notifications that replies pass on, with the members that they have there (GA 4.6, X8). */
const shapes: Record<string, Shape<LogMessage | Progress>> = {
  'notifications/message': object<LogMessage>({
    level: oneOf(...levels),
    logger: omittable(string),
    data: anything,
    _meta: omittable(jsonObject),
  }),
  'notifications/progress': object<Progress>({
    progressToken: token,
    progress: digits,
    total: omittable(digits),
    message: omittable(string),
    _meta: omittable(jsonObject),
  }),
}

/** A notification as it is passed on; undefined when it is another one, or not as it has to be. */
export function notificationOf(method: string, params: unknown): McpNotification | undefined {
  const shape = Object.hasOwn(shapes, method) ? shapes[method] : undefined
  if (shape === undefined) return undefined
  try {
    return { method, params: { ...readShape(shape, params) } }
  } catch {
    return undefined
  }
}
