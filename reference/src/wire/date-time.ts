import type { Shape } from './json/shape.ts'

/** A moment in UTC as the server writes it: `2025-12-10T16:59:31Z`, with a fraction only if it is not zero (GA 2.8). */
type DateTime = string

/** The second that contains a moment. */
export function inSeconds(moment: Date): DateTime {
  return moment.toISOString().replace(/\.\d+Z$/, 'Z')
}

/** A date-time of RFC 3339 in any time zone, converted to UTC. Throws a ShapeError. */
export const dateTime: Shape<DateTime> = (place) => {
  if (typeof place.value !== 'string') throw place.wrongType('a string')
  const utc = toUtc(place.value)
  if (utc === undefined) throw place.error('invalid value: not a date and time of RFC 3339')
  return utc
}

const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/

function toUtc(text: string): DateTime | undefined {
  const match = rfc3339.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', sign, zoneHour = '0', zoneMinute = '0'] = match
  const fields = [year, month, day, hour, minute, second].map(Number) as [number, number, number, number, number, number]
  const time = new Date(0)
  time.setUTCFullYear(fields[0], fields[1] - 1, fields[2])
  time.setUTCHours(fields[3], fields[4], fields[5])
  // An out-of-range field has carried into the next field.
  const kept = time.getUTCMonth() === fields[1] - 1 && time.getUTCDate() === fields[2] && fields[3] < 24 && fields[4] < 60 && fields[5] < 60
  if (!kept || Number(zoneHour) > 23 || Number(zoneMinute) > 59) return undefined
  const offset = (sign === '-' ? -1 : 1) * (Number(zoneHour) * 60 + Number(zoneMinute))
  time.setUTCMinutes(time.getUTCMinutes() - offset)
  if (time.getUTCFullYear() < 0 || time.getUTCFullYear() > 9999) return undefined // the zone may move it out of range (G3)
  return time.toISOString().replace(/\.\d+Z$/, `${inThousandths(fraction)}Z`)
}

/** The fraction with three, six or nine digits, as few as possible; empty for a whole second. */
function inThousandths(fraction: string): string {
  const digits = fraction.slice(1, 10).replace(/0+$/, '')
  return digits === '' ? '' : `.${digits.padEnd(Math.ceil(digits.length / 3) * 3, '0')}`
}

