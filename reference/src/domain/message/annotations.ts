import type * as contract from '#contract'
import { dateTime } from '../../wire/date-time.ts'
import { array, number, object, omittable, oneOf, type Shape } from '../../wire/json/shape.ts'

/** The audience of a piece of content, and its priority (GA 4.5). */
export const annotations: Shape<contract.Annotations> = object<contract.Annotations>({
  audience: omittable(array(oneOf('user', 'assistant'))),
  priority: omittable(number),
  lastModified: omittable(dateTime),
})
