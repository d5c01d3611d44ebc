import { temporaryRoot } from './temporary-root.ts'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { MessageReader, type Message } from '../settings/keyring/messages.ts'
import { ValueWriter, type Value } from '../settings/keyring/values.ts'

/** What a method answers: values and their types, the name of an error, or bytes instead of a message. Undefined is no answer. */
export type Reply = { signature: string; values: readonly Value[] } | { error: string } | { bytes: Buffer } | undefined

type Field = readonly [code: number, type: string, value: Value]

/** The bytes of a message, in little-endian order. */
export function message(kind: number, fields: readonly Field[], signature = '', values: readonly Value[] = []): Buffer {
  const body = new ValueWriter()
  body.write(signature, values)
  const all: readonly Field[] = signature === '' ? fields : [...fields, [8, 'g', signature]]
  const head = new ValueWriter()
  head.write('yyyyuua(yv)', [0x6c, kind, 0, 1, body.bytes.length, 1, all.map(([code, type, value]) => [code, [type, value]])])
  head.align(8)
  return Buffer.concat([head.bytes, body.bytes])
}

/** A message bus on a socket of its own, whose methods are functions of the test. */
export class FakeBus {
  /** The members of all calls, in order. */
  readonly called: string[] = []
  /** How many connections there have been. */
  connections = 0
  readonly address: string
  /** What methods answer. A method that is missing is silent. */
  readonly replies: Record<string, Reply>
  readonly #awaited = new Map<string, () => void>()
  #last: Socket | undefined

  private constructor(path: string, replies: Record<string, Reply>) {
    this.address = `unix:path=${path}`
    this.replies = { Hello: { signature: 's', values: [':1.1'] }, AddMatch: nothing, RemoveMatch: nothing, ...replies }
  }

  static async start(replies: Record<string, Reply>): Promise<FakeBus> {
    const path = join(temporaryRoot(), 'bus')
    const bus = new FakeBus(path, replies)
    const server = createServer((socket) => { bus.#serve(socket) })
    await new Promise<void>((resolve) => server.listen(path, resolve))
    onTestFinished(() => {
      bus.#last?.destroy()
      server.close()
    })
    return bus
  }

  /** Resolves at the next call of a method. */
  async next(member: string): Promise<void> {
    return new Promise((resolve) => this.#awaited.set(member, resolve))
  }

  /** Sends bytes to the last client. */
  send(bytes: Buffer): void {
    this.#last?.write(bytes)
  }

  /** Ends the last connection. */
  hangUp(): void {
    this.#last?.destroy()
  }

  #serve(socket: Socket): void {
    this.connections++
    this.#last = socket
    const messages = new MessageReader()
    let greeted = ''
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      if (!greeted.includes('BEGIN\r\n')) {
        greeted += chunk.toString('latin1')
        if (greeted.endsWith('\r\n') && !greeted.includes('BEGIN')) socket.write('OK 0\r\n')
        const end = greeted.indexOf('BEGIN\r\n')
        if (end >= 0) for (const call of messages.push(Buffer.from(greeted.slice(end + 'BEGIN\r\n'.length), 'latin1'))) this.#answer(socket, call)
        return
      }
      for (const call of messages.push(chunk)) this.#answer(socket, call)
    })
  }

  #answer(socket: Socket, call: Message): void {
    const member = String(call.field('member'))
    this.called.push(member)
    const reply = this.replies[member]
    if (reply !== undefined) socket.write(bytesOf(reply, [5, 'u', call.serial ?? 0]))
    this.#awaited.get(member)?.()
  }
}

function bytesOf(reply: Exclude<Reply, undefined>, answers: Field): Buffer {
  if ('bytes' in reply) return reply.bytes
  return 'error' in reply ? message(3, [answers, [4, 's', reply.error]]) : message(2, [answers], reply.signature, reply.values)
}

export const nothing: Reply = { signature: '', values: [] }
