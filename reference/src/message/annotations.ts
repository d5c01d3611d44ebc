import { array, number, object, omittable, oneOf } from '../json/shape.ts'
import type { JsonObject, Shape } from '../json/shape.ts'
import { dateTime } from '../time/date-time.ts'
import type { DateTime } from '../time/date-time.ts'

/** Who content is for, and how much it matters (GA 4.5). */
export interface Annotations {
  audience?: ('user' | 'assistant')[]
  priority?: number
  lastModified?: DateTime
}

/** What any content may carry. */
export interface Annotated {
  annotations?: Annotations
  _meta?: JsonObject
}

export const annotations: Shape<Annotations> = object<Annotations>({
  audience: omittable(array(oneOf('user', 'assistant'))),
  priority: omittable(number),
  lastModified: omittable(dateTime),
})
