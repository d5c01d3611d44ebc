import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { chunksOf, EventParser } from './sse.ts'

const encoder = new TextEncoder()

/** The events of a text that arrives in pieces of this size. */
function parse(text: string, size: number): unknown[] {
  const [parser, bytes] = [new EventParser(), encoder.encode(text)]
  const events: unknown[] = []
  for (let i = 0; i < bytes.length; i += size) events.push(...parser.push(bytes.subarray(i, i + size)))
  return events
}

describe.each([1, 2, 3, 1000])('events in pieces of %i bytes', (size) => {
  it.each([
    ['event: a\ndata: 1\n\n', [{ type: 'a', data: '1' }]],
    ['\uFEFFdata:1\r\n\r\ndata: 2\r\rdata:  3\n\n', ['1', '2', ' 3'].map((data) => ({ type: '', data }))],
    ['data: a\ndata\ndata: b\nid: 7\nretry: 1\n: note\n\n', [{ type: '', data: 'a\n\nb' }]],
    ['data: a\r\ndata: b\r\n\r\n', [{ type: '', data: 'a\nb' }]],
    ['event: no data\n\nevent: ping\ndata: \n\n', [{ type: 'ping', data: '' }]],
    ['data: żółć 🦆\r\n\r\ndata: \uFEFF\n\n', [{ type: '', data: 'żółć 🦆' }, { type: '', data: '\uFEFF' }]],
    ['data: whole\n\ndata: cut off\n', [{ type: '', data: 'whole' }]],
  ])('%j', (text, events) => {
    expect(parse(text, size)).toEqual(events)
  })
})

describe('the size of an event', () => {
  const limit = 16 * 1024 * 1024
  const lineOf = (bytes: number): Uint8Array => encoder.encode(`data: ${'x'.repeat(bytes - 'data: '.length)}\n`)

  it('S60: may be 16 MiB, once and again', () => {
    const parser = new EventParser()
    for (let i = 0; i < 2; i++) expect([...parser.push(lineOf(limit)), ...parser.push(encoder.encode('\n'))]).toHaveLength(1)
  })

  it('S60: may not be larger, in one line or in many', () => {
    expect(() => [...new EventParser().push(lineOf(limit + 1))]).toThrow('larger than 16 MiB')
    const parser = new EventParser()
    expect([...parser.push(lineOf(limit - 5))]).toEqual([])
    expect(() => [...parser.push(encoder.encode('data: x\n'))]).toThrow('larger than 16 MiB')
  })
})

describe('a body', () => {
  /** A body that never ends, and says whether it was cancelled. */
  function endless(chunks: number): { body: ReadableStream<Uint8Array>; cancelled: Promise<unknown> } {
    let onCancel: (reason: unknown) => void
    const cancelled = new Promise((resolve) => (onCancel = resolve))
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (let i = 0; i < chunks; i++) controller.enqueue(new Uint8Array(1))
      },
      cancel: (reason) => {
        onCancel(reason)
      },
    })
    return { body, cancelled }
  }

  it('is cancelled when its reader stops early', async () => {
    const { body, cancelled } = endless(2)
    for await (const chunk of chunksOf(body, new AbortController().signal)) {
      expect(chunk).toHaveLength(1)
      break
    }
    await cancelled
  })

  // Node's `fetch` does not do this once its request has been collected as garbage.
  it('is cancelled when the signal is aborted during a read', async () => {
    const { body, cancelled } = endless(0)
    const controller = new AbortController()
    const failed = expect(chunksOf(body, controller.signal).next()).rejects.toThrow('enough')
    controller.abort(new Error('enough'))
    await failed
    expect(await cancelled).toEqual(new Error('enough'))
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })
})
