import { describe, expect, it } from 'vitest'
import { LineNotifications } from './line-notifications.ts'

/** A client that reads one notification at a time. */
class SlowClient {
  readonly sent: unknown[] = []
  #read: (() => void) | undefined

  send(message: unknown): Promise<void> {
    this.sent.push(message)
    return new Promise((resolve) => {
      this.#read = resolve
    })
  }

  /** Reads one notification, which lets the server send the next. */
  async read(): Promise<void> {
    this.#read?.()
    await new Promise(setImmediate)
  }
}

function notice(output: string, stream: string): unknown {
  const data = { type: 'shell_output', stream, output }
  return { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', logger: 'shell_tool', data, _meta: { progressToken: 'call_1' } } }
}

function threeLines(signal = new AbortController().signal): { client: SlowClient; notices: LineNotifications } {
  const client = new SlowClient()
  const notices = new LineNotifications(client, 'call_1', signal)
  notices.add('one ', 'stdout')
  notices.add(' ', 'stdout')
  notices.add('two', 'stderr')
  notices.add('three', 'stdout')
  return { client, notices }
}

describe('the notifications of lines (X16)', () => {
  it('wait for the client, and are sent in order', async () => {
    const { client, notices } = threeLines()
    let isDone = false
    const done = notices.sent().then(() => { isDone = true })
    expect(client.sent).toEqual([notice('one', 'stdout')])
    for (let count = 2; count <= 3; count++) {
      await client.read()
      expect(client.sent).toHaveLength(count)
      expect(isDone).toBe(false)
    }
    await client.read()
    await done
    expect(client.sent.slice(1)).toEqual([notice('two', 'stderr'), notice('three', 'stdout')])
    notices.add('four', 'stdout')
    expect(client.sent).toHaveLength(4)
  })

  it('are left out when they are dropped before they are sent', async () => {
    const { client, notices } = threeLines()
    notices.drop()
    await client.read()
    await notices.sent()
    notices.add('four', 'stdout')
    expect(client.sent).toHaveLength(1)
  })

  it('are left out when the call has ended', async () => {
    const call = new AbortController()
    const { client, notices } = threeLines(call.signal)
    call.abort()
    await client.read()
    await notices.sent()
    expect(client.sent).toHaveLength(1)
  })
})
