import { abortable } from '../../abortable.ts'
import { busAddresses, type BusAddress } from './address.ts'
import { MessageReader, kinds, writeCall, type Call, type Message } from './messages.ts'
import { openPipe, type Pipe } from './pipe.ts'
import type { Value } from './values.ts'

/** How long a call may take (G56). */
const callMs = 5000
/** The most bytes of what a bus says before its first message. */
const maxGreeting = 16 * 1024

/** The answer of a method is an error. The error has only its name: its text may contain anything. */
export class CallError extends Error {
  override readonly name = 'CallError'
  readonly errorName: string

  constructor(member: string, errorName: string) {
    super(`${member}: ${errorName}`)
    this.errorName = errorName
  }
}

/** An answer has not come in time. */
export class LateError extends Error {
  override readonly name = 'LateError'
}

/** A signal that is waited for. */
interface Awaited {
  path: string
  interface: string
  member: string
  signature: string
  resolve: (values: Value[]) => void
}

/** A connection to a message bus. */
export class Bus {
  readonly #pipe: Pipe
  readonly #over = new AbortController()
  /** Undefined once the bus has let us in. */
  #greeting: Buffer | undefined = Buffer.alloc(0)
  #admitted: (() => void) | undefined
  readonly #messages = new MessageReader()
  readonly #calls = new Map<Value | undefined, (answer: Message) => void>()
  readonly #awaited = new Set<Awaited>()
  #serial = 0

  private constructor(entry: BusAddress, environment: NodeJS.ProcessEnv) {
    this.#pipe = openPipe(entry, environment, (reason) => { this.close(reason) })
    this.#pipe.input.on('data', (chunk: Buffer) => {
      try {
        this.#receive(chunk)
      } catch (error) {
        this.close(error as Error) // what is thrown here is always an Error
      }
    })
  }

  /** Connects to the first entry of an address that works. Rejects with the last error, or the reason of the signal. */
  static async connect(address: string, environment: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Bus> {
    let last: unknown = new Error('the address of the bus has no usable entry')
    for (const entry of busAddresses(address)) {
      signal.throwIfAborted()
      try {
        const bus = new Bus(entry, environment)
        await bus.#begin(signal)
        return bus
      } catch (error) {
        last = error
      }
    }
    throw last
  }

  get isClosed(): boolean {
    return this.#over.signal.aborted
  }

  /** Ends the connection; its calls fail. A program that made it ends too. */
  close(reason: Error): void {
    this.#over.abort(reason)
    this.#pipe.end()
  }

  /**
   * The values of the answer, which have the types of `returns`. Rejects with a CallError, or another error if none comes in time or
   * it is malformed; then the connection is closed.
   */
  async call(call: Call, returns: string): Promise<Value[]> {
    const serial = ++this.#serial
    const bytes = writeCall(call, serial)
    return abortable(this.#over.signal, (resolve, reject) => {
      const timer = setTimeout(() => { this.close(new LateError(`no answer to ${call.member} within ${callMs} ms`)) }, callMs)
      this.#calls.set(serial, (answer) => {
        if (answer.kind === kinds.error) reject(new CallError(call.member, String(answer.field('error'))))
        else resolve(answer.body(returns))
      })
      this.#pipe.output.write(bytes)
      return () => {
        clearTimeout(timer)
        this.#calls.delete(serial)
      }
    })
  }

  /**
   * Starts to listen for a signal. `next` waits for the first one since then, and `stop` must be called. `next` rejects with the
   * reason of its signal, or if the connection breaks.
   */
  listen(signal: Omit<Awaited, 'resolve'>): { next: (until: AbortSignal) => Promise<Value[]>; stop: () => void } {
    let stop = (): void => undefined
    const first = new Promise<Value[]>((resolve) => {
      const awaited = { ...signal, resolve }
      this.#awaited.add(awaited)
      stop = (): void => void this.#awaited.delete(awaited)
    })
    return {
      next: (until) =>
        abortable(AbortSignal.any([until, this.#over.signal]), (resolve) => {
          void first.then(resolve)
          return () => undefined
        }),
      stop,
    }
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => {
      this.close(signal.reason as Error) // the reason of an abort is always an Error
    }
    signal.addEventListener('abort', onAbort)
    try {
      await abortable(this.#over.signal, (resolve: (value: undefined) => void) => {
        this.#admitted = () => { resolve(undefined) }
        const user = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex')
        this.#pipe.output.write(`\0AUTH EXTERNAL ${user}\r\n`)
        return () => undefined
      })
      const bus = 'org.freedesktop.DBus'
      await this.call({ destination: bus, path: '/org/freedesktop/DBus', interface: bus, member: 'Hello', signature: '', body: [] }, 's')
    } catch (error) {
      this.close(error as Error) // what is thrown here is always an Error
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  #receive(chunk: Buffer): void {
    if (this.isClosed) return
    const bytes = this.#greeting === undefined ? chunk : this.#greet(Buffer.concat([this.#greeting, chunk]))
    if (bytes === undefined) return
    for (const message of this.#messages.push(bytes)) this.#deliver(message)
  }

  /** Reads the answer to the authentication, and returns what follows; undefined if the answer is not complete. */
  #greet(said: Buffer): Buffer | undefined {
    this.#greeting = said
    if (said.length > maxGreeting) throw new Error('this is no bus')
    const end = said.indexOf('\r\n')
    if (end < 0) return undefined
    if (!said.toString('latin1', 0, end).startsWith('OK ')) throw new Error('the bus rejects the authentication')
    this.#greeting = undefined
    this.#pipe.output.write('BEGIN\r\n')
    this.#admitted?.()
    return said.subarray(end + 2)
  }

  #deliver(message: Message): void {
    if (message.kind === kinds.answer || message.kind === kinds.error) this.#calls.get(message.field('answers'))?.(message)
    if (message.kind !== kinds.signal) return
    for (const { signature, resolve, ...place } of this.#awaited) {
      const isIt = (['path', 'interface', 'member'] as const).every((name) => message.field(name) === place[name])
      if (isIt) resolve(message.body(signature))
    }
  }
}
