import { describe, expect, it } from 'vitest'
import type { ModelOutcome, Telemetry } from '../telemetry/telemetry.ts'
import { CallRecord } from './call-record.ts'
import { BrokenAnswerError, NoAnswerInTimeError, NoConnectionError, UnreadableAnswerError, type HttpAnswer } from './http-call.ts'
import { BadStreamError, CutStreamError } from './model-protocol.ts'
import { ModelError } from './model.ts'

/** Runs a call, and returns the outcome that its span gets. */
async function outcomeOf(go: (record: CallRecord) => Promise<void> | void, signal = new AbortController().signal): Promise<ModelOutcome> {
  const outcomes: ModelOutcome[] = []
  const span = { run: <T>(call: () => T): T => call(), end: (outcome: ModelOutcome) => void outcomes.push(outcome) }
  const telemetry = { model: () => span } as Partial<Telemetry> as Telemetry // a record uses nothing else of it
  const record = new CallRecord(telemetry, { provider: 'openai', model: 'm', url: new URL('http://h/') }, signal)
  await go(record)
  record.close({ model: 'n', finishReason: null })
  const [outcome] = outcomes
  if (outcome === undefined || outcomes.length > 1) throw new Error('the span has not ended once')
  return outcome
}

const answer = (status: number) => (): Promise<HttpAnswer> => Promise.resolve({ status } as Partial<HttpAnswer> as HttpAnswer) // a record reads only its status

describe('the record of a call (T16)', () => {
  it.each([
    [503, new ModelError('busy'), '503'],
    [503, new BrokenAnswerError(), '503'],
    [200, new ModelError('an error inside'), 'invalid_response'],
    [200, new UnreadableAnswerError(), 'invalid_response'],
    [200, new BadStreamError('no JSON'), 'invalid_response'],
    [200, new BrokenAnswerError(), 'connection_error'],
    [200, new CutStreamError('cut'), 'connection_error'],
    [200, new NoAnswerInTimeError('late'), 'timeout'],
  ])('of status %d that fails with %s has the word of the failure', async (status, error, word) => {
    const { errorType } = await outcomeOf(async (record) => {
      await record.attempt(answer(status))
      record.failed(error)
    })
    expect(errorType).toBe(word)
  })

  it('forgets the status of an earlier attempt', async () => {
    const error = new NoConnectionError('refused')
    const { errorType } = await outcomeOf(async (record) => {
      await record.attempt(answer(503))
      await record.attempt(() => Promise.reject(error)).catch(() => undefined)
      record.failed(error)
    })
    expect(errorType).toBe('connection_error')
  })

  it.each([[new Error('the client has left'), 'cancelled'], [new DOMException('late', 'TimeoutError'), 'timeout']])('of a call that ends because of %s', async (reason, word) => {
    const { errorType } = await outcomeOf((record) => { record.failed(reason) }, AbortSignal.abort(reason))
    expect(errorType).toBe(word)
  })

  it('counts an answer that is not read to its end as cancelled', async () => {
    expect((await outcomeOf(() => undefined)).errorType).toBe('cancelled')
  })

  it('has the latest tokens, and no error after a success', async () => {
    const piece = (input: number | null, output: number | null): Parameters<CallRecord['piece']>[0] => ({ id: null, content: null, usage: { input, output, total: null } })
    const outcome = await outcomeOf((record) => {
      record.piece(piece(3, 1))
      record.piece({ id: null, content: null, usage: null })
      record.piece(piece(null, 2))
      record.succeeded()
    })
    expect(outcome).toEqual({ model: 'n', finishReason: null, inputTokens: 3, outputTokens: 2, errorType: undefined })
  })
})
