import { describe, expect, it } from 'vitest'
import { EventStream, SlowReaderError, defaultLimits, type CloseReason, type QueueLimits } from './event-stream.ts'

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
  it('returns events in order, queued ones and awaited ones', async () => {
    const { stream, read } = open()
    stream.send('1')
    stream.send('2')
    expect([await read(), await read()]).toEqual(['1', '2'])
    const third = read()
    stream.send('3')
    stream.send('4')
    expect([await third, await read()]).toEqual(['3', '4'])
  })

  it('ends after the events that have been sent', async () => {
    const { stream, reasons, read } = open()
    stream.send('1')
    stream.send('2')
    stream.end()
    stream.send('late')
    stream.end()
    expect(reasons).toEqual([{ type: 'ended' }])
    expect([await read(), await read(), await read()]).toEqual(['1', '2', null])
  })

  it('ends at once for a waiting reader', async () => {
    const { stream, read } = open()
    const last = read()
    await Promise.resolve()
    stream.end()
    expect(await last).toBeNull()
  })

  it('reports once and immediately that its reader has disconnected', async () => {
    const { stream, reasons, cancel } = open()
    stream.send('1')
    const cancelled = cancel()
    expect(reasons).toEqual([{ type: 'disconnected' }])
    await cancelled
    stream.send('2')
    stream.end()
    expect(reasons).toHaveLength(1)
  })

  it('does not report this when it has already ended', async () => {
    const { stream, reasons, cancel } = open()
    stream.send('1')
    stream.end()
    await cancel()
    expect(reasons).toEqual([{ type: 'ended' }])
  })
})

describe('the queue (S16)', () => {
  it('holds 65,536 events or 16 MiB', () => {
    expect(defaultLimits).toMatchObject({ events: 65_536, bytes: 16_777_216 })
  })

  it('overflows with one event too many', () => {
    const { stream, reasons } = open({ events: 3, bytes: 100 })
    for (const event of ['1', '2', '3']) stream.send(event)
    expect(reasons).toEqual([])
    stream.send('4')
    expect(reasons).toEqual([{ type: 'overflow', events: 4, bytes: 4 }])
    stream.send('5')
    expect(reasons).toHaveLength(1)
  })

  it('counts bytes, not characters', () => {
    const { stream, reasons } = open({ events: 100, bytes: 4 })
    stream.send('żż')
    expect(reasons).toEqual([])
    stream.send('1')
    expect(reasons).toEqual([{ type: 'overflow', events: 2, bytes: 5 }])
  })

  it('accepts an event of any size when it is empty', async () => {
    const { stream, reasons, read } = open({ events: 100, bytes: 4 })
    stream.send('12345')
    expect(await read()).toBe('12345')
    stream.send('67890')
    expect(reasons).toEqual([])
    stream.send('')
    expect(reasons).toEqual([{ type: 'overflow', events: 2, bytes: 5 }])
  })

  it('does not count the event that the reader has taken', async () => {
    const { stream, reasons, read } = open({ events: 2, bytes: 2 })
    stream.send('12')
    await read()
    stream.send('3')
    stream.send('4')
    expect(reasons).toEqual([])
    stream.send('5')
    expect(reasons).toEqual([{ type: 'overflow', events: 3, bytes: 3 }])
  })

  it('is released with the stream, and the reader notices at once', async () => {
    const { stream, read } = open({ events: 3, bytes: 100 })
    for (const event of ['1', '2', '3', '4']) stream.send(event)
    await expect(read()).rejects.toThrow(SlowReaderError)
  })

  it('disconnects a reader that has begun to read', async () => {
    const { stream, reasons, read } = open({ events: 1, bytes: 100 })
    stream.send('1')
    expect(await read()).toBe('1')
    for (const event of ['2', '3']) stream.send(event)
    await expect(read()).rejects.toThrow(SlowReaderError)
    expect(reasons).toMatchObject([{ type: 'overflow' }])
  })

  it('never fills up for a reader that keeps up', async () => {
    const { stream, reasons, read } = open({ events: 1, bytes: 2 })
    for (let i = 0; i < 100; i++) {
      const next = read() // resolves when the previous event is written
      stream.send('ab')
      expect(await next).toBe('ab')
    }
    expect(reasons).toEqual([])
  })

  it('keeps the order of events that arrive while it is emptied', async () => {
    const { stream, reasons, read } = open()
    const taken: (string | null)[] = []
    for (let i = 0; i < 300; i++) {
      stream.send(String(i))
      if (i % 3 === 2) taken.push(await read())
    }
    stream.end()
    while (taken.at(-1) !== null) taken.push(await read())
    expect(taken).toEqual([...Array.from({ length: 300 }, (_, i) => String(i)), null])
    expect(reasons).toEqual([{ type: 'ended' }])
  })
})
