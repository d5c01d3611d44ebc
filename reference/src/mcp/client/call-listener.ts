import type { ServerNotification } from '#contract'
import type { SamplingAnswer, SamplingRequest } from './sampling.ts'

/** What a running tool call reports and asks. */
export interface CallListener {
  /** The id of the request, which is the progress token of the call. */
  requestId: string
  /** Never fails. */
  onNotification: (notification: ServerNotification) => void
  /** The answer of a person. Rejects when the signal is aborted before. */
  elicit: (message: string, schema: unknown, signal: AbortSignal) => Promise<unknown>
  /** What the model of the agent answers. Rejects with a ModelError, or when the signal is aborted. */
  sample: (request: SamplingRequest, signal: AbortSignal) => Promise<SamplingAnswer>
}
