import type * as contract from '#contract'
import { Rendered, operation, type Operation } from '../../httpapi/operation.ts'
import { dataFrame, sharedFrames } from '../../httpapi/sse/frame.ts'
import type { OpenStreams } from '../../httpapi/sse/open-streams.ts'
import { streamResponse } from '../../httpapi/sse/stream-response.ts'
import type { Bus } from './bus.ts'
import { directoryOf } from '../../httpapi/directory.ts'

const connected: contract.ServerConnectedEvent = { type: 'server.connected', properties: {} }

const frameOf = sharedFrames((event: contract.BusEvent) => dataFrame(event satisfies contract.StreamEvent))
/** An event is published in one directory only, so its frame can be shared. */
const globalFrameOf = sharedFrames((payload: contract.BusEvent, directory: string) => dataFrame({ directory, payload } satisfies contract.GlobalEvent))

interface EventDeps {
  bus: Bus
  streams: OpenStreams
  defaultDirectory: string
}

/** `GET /event`: all events in one directory, from the moment it is opened (CT 5.2). There is no keepalive (S17). */
export function directoryEvents({ bus, streams, defaultDirectory }: EventDeps): Operation<contract.StreamEventsData, contract.StreamEventsResponses> {
  return operation(({ request }) => {
    const directory = directoryOf(request, defaultDirectory)
    if (request.method === 'HEAD') return new Rendered(streamResponse(null))
    const stream = streams.open({ kind: 'event', directory }, (stream) => {
      stream.send(dataFrame(connected satisfies contract.StreamEvent))
      return bus.subscribe((event, where) => {
        if (where === directory) stream.send(frameOf(event))
      })
    })
    return new Rendered(streamResponse(stream))
  })
}

/** `GET /global/event`: the events in all directories, without a first event or a keepalive (CT 5.3). */
export function globalEvents({ bus, streams }: EventDeps): Operation<contract.StreamGlobalEventsData, contract.StreamGlobalEventsResponses> {
  return operation(({ request }) => {
    if (request.method === 'HEAD') return new Rendered(streamResponse(null))
    const stream = streams.open({ kind: 'global', directory: null }, (stream) =>
      bus.subscribe((payload, directory) => {
        stream.send(globalFrameOf(payload, directory))
      }),
    )
    return new Rendered(streamResponse(stream))
  })
}
