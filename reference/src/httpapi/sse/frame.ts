import { stringifyJson } from '../../wire/json/stringify.ts'

const encoder = new TextEncoder()

/** The bytes of one event in a stream. */
export type Frame = Uint8Array

/**
 * Makes frames that many streams send. Each frame is made once, and its bytes are shared. Otherwise a thousand slow readers would
 * keep a thousand copies in memory.
 */
export function sharedFrames<T extends object, More extends unknown[] = []>(
  frame: (thing: T, ...more: More) => Frame,
): (thing: T, ...more: More) => Frame {
  const made = new WeakMap<T, Frame>()
  return (thing, ...more) => {
    const known = made.get(thing)
    if (known !== undefined) return known
    const fresh = frame(thing, ...more)
    made.set(thing, fresh)
    return fresh
  }
}

/** An event without a name, as on `/event` and `/global/event` (CT 5.2, 5.3). JSON never contains a line break. */
export function dataFrame(data: unknown): Frame {
  return encoder.encode(`data: ${stringifyJson(data)}\n\n`)
}

/** An event with a name, as on a pending stream (CT 5.1). */
export function namedFrame(event: string, data: unknown): Frame {
  return encoder.encode(`event: ${event}\ndata: ${stringifyJson(data)}\n\n`)
}

/** The keepalive of a pending stream: 20 bytes, with a blank after `data:` (CT 5.1). */
export const pingFrame: Frame = encoder.encode('event: ping\ndata: \n\n')
