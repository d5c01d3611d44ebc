import { ClientToolsError } from './errors.ts'
import type { Http } from './http.ts'
import { parseJson } from './json.ts'
import type { Scope } from './scope.ts'
import { readEvents } from './sse.ts'
import { readToolRequest, type ToolRequest } from './tool.ts'

/** What a stream tells its connection. */
export interface StreamEvents {
  /** From now on, the server may send requests: `connect` resolves (S57). */
  onReady: () => void
  /** The stream is open. A socket gives a function that sends a message, and returns false when it is no longer open. */
  onOpen: (send?: (message: unknown) => boolean) => void
  onRequest: (request: ToolRequest) => void
  /** The server sent something invalid, or an error. The stream continues. */
  onError: (error: ClientToolsError) => void
}

/** Opens a stream, and resolves with the reason when it is lost. Its scope ends it. */
export type OpenStream = (scope: Scope, events: StreamEvents) => Promise<unknown>

/** The stream over HTTP (CT 5.1). */
export function eventStream(http: Http, clientID: string): OpenStream {
  return async (scope, events) => {
    try {
      const path = `/client-tools/pending/${encodeURIComponent(clientID)}`
      const head = http.open(scope, 'GET', path, undefined, 'text/event-stream')
      events.onReady()
      const response = await head
      events.onOpen()
      for await (const { type, data } of readEvents(response.body, scope.signal)) {
        if (type !== 'tool-request') continue
        const request = readToolRequest(parseJson(data))
        if (request) events.onRequest(request)
        else events.onError(new ClientToolsError('Invalid tool request'))
      }
      return new ClientToolsError('The stream ended')
    } catch (error) {
      return error
    }
  }
}
