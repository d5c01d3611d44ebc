import type { CallListener } from '../mcp/client/call-listener.ts'

function nobody(): Promise<never> {
  return Promise.reject(new Error('nobody is asked'))
}

/** Ignores the notifications of a call, and rejects its questions. */
export const silentListener: CallListener = { requestId: 'r', onNotification: () => undefined, elicit: nobody, sample: nobody }
