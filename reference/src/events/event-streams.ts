import type { Handler } from 'hono'
import type { BusEvent, GlobalEvent, ServerConnectedEvent } from '#contract'
import { dataFrame, sharedFrames } from '../sse/frame.ts'
import type { OpenStreams } from '../sse/open-streams.ts'
import { streamResponse } from '../sse/stream-response.ts'
import type { Bus } from './bus.ts'
import { directoryOf } from './directory.ts'

const connected: ServerConnectedEvent = { type: 'server.connected', properties: {} }

const frameOf = sharedFrames((event: BusEvent) => dataFrame(event))
/** An event is published once, in one directory. */
const globalFrameOf = sharedFrames((payload: BusEvent, directory: string) => dataFrame({ directory, payload } satisfies GlobalEvent))

/** `GET /event`: what happens in one directory, from the moment of opening (CT 5.2). No keepalive (S17). */
export function directoryEvents(bus: Bus, streams: OpenStreams, defaultDirectory: string): Handler {
  return (c) => {
    const directory = directoryOf(c.req.raw, defaultDirectory)
    if (c.req.method === 'HEAD') return streamResponse(null)
    const stream = streams.open({ kind: 'event', directory }, (stream) => {
      stream.send(dataFrame(connected))
      return bus.subscribe((event, where) => {
        if (where === directory) stream.send(frameOf(event))
      })
    })
    return streamResponse(stream)
  }
}

/** `GET /global/event`: what happens in all directories, with neither a first event nor a keepalive (CT 5.3). */
export function globalEvents(bus: Bus, streams: OpenStreams): Handler {
  return (c) => {
    if (c.req.method === 'HEAD') return streamResponse(null)
    const stream = streams.open({ kind: 'global', directory: null }, (stream) =>
      bus.subscribe((payload, directory) => {
        stream.send(globalFrameOf(payload, directory))
      }),
    )
    return streamResponse(stream)
  }
}
