import type { CallListener } from '../reply/parts.ts'

function nobody(): Promise<never> {
  return Promise.reject(new Error('nobody is asked'))
}

/** Hears what a call tells, and answers no question. */
export const silentListener: CallListener = { requestId: 'r', notified: () => undefined, elicit: nobody, sample: nobody }
