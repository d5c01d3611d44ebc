import type { Handler } from 'hono'
import type { ClientToolExecutionRequest } from '#contract'
import type { Bus } from '../events/bus.ts'
import { directoryOf } from '../events/directory.ts'
import { namedFrame, pingFrame, sharedFrames } from '../sse/frame.ts'
import { startMetronome } from '../sse/metronome.ts'
import type { OpenStreams } from '../sse/open-streams.ts'
import { streamResponse } from '../sse/stream-response.ts'
import type { Executions } from './executions.ts'
import type { Registry } from './registry.ts'

export interface PendingStreamParts {
  bus: Bus
  streams: OpenStreams
  registry: Registry
  executions: Executions
  defaultDirectory: string
  keepaliveInterval: number
}

/**
 * `GET /client-tools/pending/{clientID}`: the execution requests of one client in one directory, with a ping at every
 * multiple of the keepalive interval (CT 5.1).
 *
 * The stream stands for the client's presence. When it closes by whatever hand but the server's own, the client's
 * executions fail and its tools go, in every directory and whether or not it has other streams (CT 1, 3.6).
 */
export function pendingRequests(parts: PendingStreamParts): Handler<object, '/:clientID'> {
  const { bus, streams, defaultDirectory, keepaliveInterval } = parts
  return (c) => {
    const clientID = c.req.param('clientID')
    const directory = directoryOf(c.req.raw, defaultDirectory)
    if (c.req.method === 'HEAD') return streamResponse(null, unbuffered)

    const stream = streams.open({ kind: 'pending', directory, clientID }, (stream) => {
      const unsubscribe = bus.subscribe((event, where) => {
        if (event.type !== 'client-tool.request' || where !== directory) return
        if (event.properties.clientID !== clientID) return
        stream.send(frameOf(event.properties.request))
      })
      const stopPings = startMetronome(keepaliveInterval, () => {
        stream.send(pingFrame)
      })
      return ({ type }) => {
        unsubscribe()
        stopPings()
        if (type !== 'ended') disconnect(parts, clientID, directory)
      }
    })
    return streamResponse(stream, unbuffered)
  }
}

const frameOf = sharedFrames((request: ClientToolExecutionRequest) => namedFrame('tool-request', request))

/** Proxies pass a pending stream on as it comes (S44). */
const unbuffered = { 'X-Accel-Buffering': 'no' }

/** The clean-up of CT 5.1: first the failures, then the tools. A client without tools unregisters nothing. */
function disconnect(
  { bus, registry, executions }: PendingStreamParts,
  clientID: string,
  directory: string,
): void {
  executions.disconnect(clientID, directory)
  const toolIDs = registry.unregisterAll(clientID)
  if (toolIDs.length === 0) return
  bus.publish(directory, { type: 'client-tool.unregistered', properties: { clientID, toolIDs } })
}
