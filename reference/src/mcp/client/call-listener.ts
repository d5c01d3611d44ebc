import type { ServerNotification } from '#contract'
import type { SamplingAnswer, SamplingRequest } from './sampling.ts'

/** Receives what a running tool call reports and asks. */
export interface CallListener {
  /** The id of the tool request, which is also the progress token of the call. */
  requestId: string
  /** Never fails. */
  onNotification: (notification: ServerNotification) => void
  /** Called if the server marks the result of the call as an error. */
  onErrorResult?: (() => void) | undefined
  /** Asks a person. Rejects if the signal is aborted before the answer. */
  elicit: (message: string, schema: unknown, signal: AbortSignal) => Promise<unknown>
  /** Asks the agent's model. Rejects with a ModelError, or if the signal is aborted. */
  sample: (request: SamplingRequest, signal: AbortSignal) => Promise<SamplingAnswer>
}
