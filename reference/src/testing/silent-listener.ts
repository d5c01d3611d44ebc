import type { CallListener } from '../mcp/client/call-listener.ts'

function nobody(): Promise<never> {
  return Promise.reject(new Error('nobody is asked'))
}

/** Hears what a call tells, and answers no question. */
export const silentListener: CallListener = { requestId: 'r', onNotification: () => undefined, elicit: nobody, sample: nobody }
