import { describe, expect, it } from 'vitest'
import { EventStream, SlowReaderError, defaultLimits } from './event-stream.ts'
import type { CloseReason, QueueLimits } from './event-stream.ts'

function open(limits?: QueueLimits): {
  stream: EventStream
  reasons: CloseReason[]
  read: () => Promise<string | null>
  cancel: () => Promise<void>
} {
  const reasons: CloseReason[] = []
  const stream = new EventStream((reason) => reasons.push(reason), limits)
  const reader = stream.body.getReader()
  const read = async (): Promise<string | null> => {
    const part = await reader.read()
    return part.done ? null : Buffer.from(part.value).toString()
  }
  return { stream, reasons, read, cancel: () => reader.cancel() }
}

describe('EventStream', () => {
  it('hands over events in order, those that waited and those that are waited for', async () => {
    const { stream, read } = open()
    stream.send('1')
    stream.send('2')
    expect([await read(), await read()]).toEqual(['1', '2'])
    const third = read()
    stream.send('3')
    stream.send('4')
    expect([await third, await read()]).toEqual(['3', '4'])
  })

  it('ends after what has been sent', async () => {
    const { stream, reasons, read } = open()
    stream.send('1')
    stream.send('2')
    stream.end()
    stream.send('late')
    stream.end()
    expect(reasons).toEqual([{ type: 'ended' }])
    expect([await read(), await read(), await read()]).toEqual(['1', '2', null])
  })

  it('ends at once for a reader that waits', async () => {
    const { stream, read } = open()
    const last = read()
    await Promise.resolve()
    stream.end()
    expect(await last).toBeNull()
  })

  it('says that its reader went away, once and at once', async () => {
    const { stream, reasons, cancel } = open()
    stream.send('1')
    const cancelled = cancel()
    expect(reasons).toEqual([{ type: 'disconnected' }])
    await cancelled
    stream.send('2')
    stream.end()
    expect(reasons).toHaveLength(1)
  })

  it('does not say so when it had ended before', async () => {
    const { stream, reasons, cancel } = open()
    stream.send('1')
    stream.end()
    await cancel()
    expect(reasons).toEqual([{ type: 'ended' }])
  })
})

describe('the queue (S16)', () => {
  it('has room for 4096 events of 16 MiB', () => {
    expect(defaultLimits).toEqual({ events: 4096, bytes: 16_777_216 })
  })

  it('is cut off by the event that is one too many', async () => {
    const { stream, reasons, read } = open({ events: 3, bytes: 100 })
    for (const event of ['1', '2', '3']) stream.send(event)
    expect(reasons).toEqual([])
    stream.send('4')
    expect(reasons).toEqual([{ type: 'overflow', events: 4, bytes: 4 }])
    stream.send('5')
    await expect(read()).rejects.toThrow(SlowReaderError)
    expect(reasons).toHaveLength(1)
  })

  it('counts bytes, not characters', () => {
    const { stream, reasons } = open({ events: 100, bytes: 4 })
    stream.send('żż')
    expect(reasons).toEqual([])
    stream.send('1')
    expect(reasons).toEqual([{ type: 'overflow', events: 2, bytes: 5 }])
  })

  it('does not take an event that is too large by itself', () => {
    const { stream, reasons } = open({ events: 100, bytes: 4 })
    stream.send('12345')
    expect(reasons).toEqual([{ type: 'overflow', events: 1, bytes: 5 }])
  })

  it('counts the event that the reader has not finished with', async () => {
    const { stream, reasons, read } = open({ events: 2, bytes: 100 })
    stream.send('1')
    await read()
    stream.send('2')
    expect(reasons).toEqual([])
    stream.send('3')
    expect(reasons).toMatchObject([{ type: 'overflow', events: 3 }])
  })

  it('never fills up for a reader that keeps up', async () => {
    const { stream, reasons, read } = open({ events: 1, bytes: 2 })
    for (let i = 0; i < 100; i++) {
      const next = read() // says that the event before is written
      stream.send('ab')
      expect(await next).toBe('ab')
    }
    expect(reasons).toEqual([])
  })
})
