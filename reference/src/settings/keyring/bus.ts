import * as library from '@homebridge/dbus-native'
import { abortable } from '../../abortable.ts'
import { busAddresses } from './address.ts'
import { openStream, type BusStream } from './bus-stream.ts'

/** How long a call may take (G56). */
const callMs = 5000

/** A call of a method. The types of `body` are those of `signature`. */
export interface Call {
  destination: string
  path: string
  interface: string
  member: string
  signature?: string
  body?: readonly unknown[]
}

/** The answer of a method is an error. Its name alone is told: its text may contain anything. */
export class CallError extends Error {
  override readonly name = 'CallError'
}

interface Connection {
  on: ((event: 'connect', listener: () => void) => void) & ((event: 'error', listener: (error: Error) => void) => void)
}

interface Client {
  connection: Connection
  /** The values that listeners get for a signal are its body. */
  signals: NodeJS.EventEmitter
  mangle: (path: string, iface: string, member: string) => string
  invoke: (call: Call, answered: (error: { name: string } | null | undefined, ...values: unknown[]) => void) => void
}

// The types of the library have only its calls for the system bus.
const { createClient } = library as unknown as {
  createClient: (options: { stream: BusStream; authMethods: string[]; direct: true }) => Client
}

/** A connection to a message bus. */
export class Bus {
  readonly #stream: BusStream
  readonly #client: Client
  readonly #over = new AbortController()

  private constructor(stream: BusStream) {
    this.#stream = stream
    this.#client = createClient({ stream, authMethods: ['EXTERNAL'], direct: true })
    const broken = (error: Error): void => {
      this.#over.abort(error)
      stream.destroy()
    }
    this.#client.connection.on('error', broken)
    stream.on('close', () => {
      broken(new Error('the connection to the bus has ended'))
    })
  }

  /** Connects to the first entry of an address that works. Rejects with the last error, or the reason of the signal. */
  static async connect(address: string, environment: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Bus> {
    let last: unknown = new Error('the address of the bus has no usable entry')
    for (const entry of busAddresses(address)) {
      signal.throwIfAborted()
      try {
        const bus = new Bus(openStream(entry, environment))
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
  close(reason = new Error('the connection to the bus was closed')): void {
    this.#over.abort(reason)
    this.#stream.destroy()
  }

  /** The values of the answer. Rejects with a CallError, or another error if none comes in time. */
  async call(call: Call): Promise<unknown[]> {
    return abortable(this.#over.signal, (resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`no answer to ${call.member} within ${callMs} ms`))
      }, callMs)
      this.#client.invoke(call, (error, ...values) => {
        if (error) reject(new CallError(`${call.member}: ${error.name}`))
        else resolve(values)
      })
      return () => {
        clearTimeout(timer)
      }
    })
  }

  /**
   * Starts to listen for a signal. `next` waits for the first one since then, and `stop` must be called. `next` rejects with the
   * reason of its signal, or if the connection breaks.
   */
  listen(path: string, iface: string, member: string): { next: (until: AbortSignal) => Promise<unknown[]>; stop: () => void } {
    const { signals } = this.#client
    const event = this.#client.mangle(path, iface, member)
    let stop = (): void => undefined
    const first = new Promise<unknown[]>((resolve) => {
      signals.once(event, resolve)
      stop = (): void => void signals.off(event, resolve)
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
        this.#client.connection.on('connect', () => {
          this.#stream.isAuthenticated = true
          resolve(undefined)
        })
        return () => undefined
      })
      const bus = 'org.freedesktop.DBus'
      await this.call({ destination: bus, path: '/org/freedesktop/DBus', interface: bus, member: 'Hello' })
    } catch (error) {
      this.close()
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }
}
