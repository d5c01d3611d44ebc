import type * as contract from '#contract'
import type { Bus } from '../events/bus.ts'
import { directoryOf } from '../../httpapi/directory.ts'
import { Rendered, operation, type Operation } from '../../httpapi/operation.ts'
import type { EventStream } from '../../httpapi/sse/event-stream.ts'
import { namedFrame, pingFrame, sharedFrames, type Frame } from '../../httpapi/sse/frame.ts'
import { startTicker } from '../../httpapi/sse/ticker.ts'
import type { OpenStreams } from '../../httpapi/sse/open-streams.ts'
import { streamResponse } from '../../httpapi/sse/stream-response.ts'
import type { Executions } from './executions.ts'
import { unregisterTools } from './handlers.ts'
import type { Leases } from './leases.ts'
import type { PermissionQuestions } from './permission-questions.ts'
import type { Registry } from './registry.ts'

export interface PendingStreamDeps {
  bus: Bus
  streams: OpenStreams
  registry: Registry
  executions: Executions
  questions: PermissionQuestions
  leases: Leases
  defaultDirectory: string
  keepaliveInterval: number
}

/**
 * `GET /client-tools/pending/{clientID}`: the execution requests for one client in one directory, with a ping at every multiple
 * of the keepalive interval (CT 5.1).
 */
export function pendingRequests(
  deps: PendingStreamDeps,
): Operation<contract.StreamPendingRequestsData, contract.StreamPendingRequestsResponses> {
  return operation(({ request, path: { clientID } }) => {
    const directory = directoryOf(request, deps.defaultDirectory)
    if (request.method === 'HEAD') return new Rendered(streamResponse(null, unbuffered))

    const stream = openPending(deps, { clientID, directory, frameOf, ping: pingFrame })
    return new Rendered(streamResponse(stream, unbuffered))
  })
}

interface PendingStream {
  clientID: string
  directory: string
  /** The bytes of a request on this kind of stream. */
  frameOf: (request: contract.ClientToolExecutionRequest) => Frame
  /** The event that keeps the stream alive, unless its connection does that itself. */
  ping?: Frame
}

/**
 * Opens a stream of the requests for one client in one directory. The stream shows that the client is there. Unless the server
 * itself closes it, its end fails the client's executions and removes its tools. This applies to all directories, even if the
 * client has other streams (CT 1, 3.6).
 */
export function openPending(deps: PendingStreamDeps, { clientID, directory, frameOf, ping }: PendingStream): EventStream {
  return deps.streams.open({ kind: 'pending', directory, clientID }, (stream) => {
    const unsubscribe = deps.bus.subscribe((event, where) => {
      if (event.type !== 'client-tool.request' || where !== directory) return
      if (event.properties.clientID !== clientID) return
      stream.send(frameOf(event.properties.request))
    })
    deps.leases.opened(clientID)
    for (const request of deps.executions.waitingFor(clientID, directory)) stream.send(frameOf(request))
    const stopPings = ping === undefined ? undefined : startTicker(deps.keepaliveInterval, () => {
      stream.send(ping)
    })
    return ({ type }) => {
      unsubscribe()
      stopPings?.()
      if (type !== 'ended') disconnect(deps, clientID, directory)
    }
  })
}

const frameOf = sharedFrames((request: contract.ClientToolExecutionRequest) => namedFrame('tool-request', request satisfies contract.PendingStreamData))

/** Proxies must not buffer a pending stream (S44). */
const unbuffered = { 'X-Accel-Buffering': 'no' }

/** The clean-up of CT 5.1: first the failures, then the tools, unless a lease keeps them. No event is published for a client without tools. */
function disconnect(deps: PendingStreamDeps, clientID: string, directory: string): void {
  deps.executions.disconnect(clientID, directory)
  deps.questions.disconnect(clientID)
  if (!deps.leases.closed(clientID)) unregisterTools(deps, directory, clientID)
}
