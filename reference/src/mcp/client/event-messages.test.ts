import { describe, expect, it } from 'vitest'
import { ProtocolViolationError, maxMessageBytes, replacedMessages } from './event-messages.ts'

/** The stream that results from these bytes, in chunks of this size. */
async function replaced(text: string, chunk = text.length): Promise<string> {
  const chunks = Array.from({ length: Math.ceil(text.length / chunk) }, (_, i) => Buffer.from(text.slice(i * chunk, (i + 1) * chunk)))
  const events: Uint8Array[] = []
  for await (const event of replacedMessages(ReadableStream.from(chunks), (data) => `<${Buffer.from(data).toString()}>`)) events.push(event)
  return Buffer.concat(events).toString()
}

describe('an event stream', () => {
  it.each([1, 2, 3, 7, 1000])('has the data of its messages replaced, whatever its line ends are (%i bytes at a time)', async (chunk) => {
    const text = 'id: 1\ndata: a\n\ndata:b\r\ndata: c\r\n\r\n: hi\rdata: d\r\revent: message\ndata: e\n\nevent: endpoint\ndata: /f\n\ndata\n\nretry: 5\n\ndata: g\n'
    expect(await replaced(text, chunk)).toBe(
      'id: 1\ndata: <a>\n\ndata: <b\nc>\n\n: hi\ndata: <d>\n\nevent: message\ndata: <e>\n\nevent: endpoint\ndata: /f\n\ndata: \n\nretry: 5\n\n',
    )
  })

  it('accepts a message of 16 MiB, and no larger one (X12)', async () => {
    const data = 'x'.repeat(maxMessageBytes)
    expect(await replaced(`data: ${data}\n\n`, 1 << 20)).toHaveLength(maxMessageBytes + 'data: <>\n\n'.length)
    await expect(replaced(`data: ${data}x\n\n`, 1 << 20)).rejects.toThrow(ProtocolViolationError)
    await expect(replaced(`data: ${data}${data}`, 1 << 20)).rejects.toThrow('too large')
    await expect(replaced(`data: ${data}\ndata: ${data}\n\n`, 1 << 20)).rejects.toThrow('too large')
  })
})
