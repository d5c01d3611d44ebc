import { stringifyJson } from '../json/stringify.ts'

/** An event without a name, as on `/event` and `/global/event` (CT 5.2, 5.3). JSON never contains a line break. */
export function dataFrame(data: unknown): string {
  return `data: ${stringifyJson(data)}\n\n`
}

/** An event with a name, as on a pending stream (CT 5.1). */
export function namedFrame(event: string, data: unknown): string {
  return `event: ${event}\n${dataFrame(data)}`
}

/** The keepalive of a pending stream: 20 bytes, with a blank after `data:` (CT 5.1). */
export const pingFrame = 'event: ping\ndata: \n\n'
