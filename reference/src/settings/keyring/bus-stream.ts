import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { Duplex, type Readable, type Writable } from 'node:stream'
import type { BusAddress } from './address.ts'

/** The most bytes of a message (G56), and of what a bus may say before its first one. */
const [maxMessage, maxGreeting] = [16 * 1024 * 1024, 16 * 1024]

/**
 * Both directions of a connection to a bus, as the library for D-Bus wants them. It adds what the library lacks: bounds, and an
 * error instead of a crash if the bus sends no D-Bus.
 */
export class BusStream extends Duplex {
  /** Whether the authentication has succeeded. */
  isAuthenticated = false
  readonly #input: Readable
  readonly #output: Writable
  readonly #end: () => void
  #greeted = 0

  constructor(input: Readable, output: Writable, end: () => void) {
    super()
    this.#input = input
    this.#output = output
    this.#end = end
    input.on('data', (chunk: Buffer) => {
      this.#greeted += this.isAuthenticated ? 0 : chunk.length
      if (this.#greeted > maxGreeting) this.destroy(new Error('this is no bus'))
      else if (!this.push(chunk)) input.pause()
    })
    input.on('end', () => this.destroy(new Error('the bus has closed the connection')))
    for (const stream of new Set([input, output])) stream.on('error', (error) => this.destroy(error))
  }

  /** The library reads a message with one call. */
  override read(size?: number): unknown {
    if (size === undefined || size <= maxMessage) return super.read(size)
    this.destroy(new Error(`a message has more than ${maxMessage} bytes`))
    return null
  }

  /** The library throws in its listener if a message is malformed. */
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event !== 'readable') return super.emit(event, ...args)
    try {
      return super.emit(event, ...args)
    } catch (cause) {
      this.destroy(new Error('a message is malformed', { cause }))
      return true
    }
  }

  /** The library wants a socket. */
  setNoDelay(): this {
    return this
  }

  override _read(): void {
    this.#input.resume()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#output.write(chunk, done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#end()
    done(error)
  }
}

/** Connects to an entry of an address, of the transports `unix` and `unixexec` (G53). Throws if it has another one. */
export function openStream({ transport, parameters }: BusAddress, environment: NodeJS.ProcessEnv): BusStream {
  const path = parameters.get('path')
  const abstract = parameters.get('abstract')
  if (transport === 'unix' && path !== undefined && abstract === undefined) return socketStream(path)
  if (transport === 'unix' && path === undefined && abstract !== undefined) return socketStream(`\0${abstract}`)
  if (transport === 'unixexec' && path !== undefined) return programStream(path, parameters, environment)
  throw new Error(`the transport ${JSON.stringify(transport)} does not work here, or lacks a parameter`)
}

function socketStream(path: string): BusStream {
  const socket = connect({ path })
  return new BusStream(socket, socket, () => socket.destroy())
}

function programStream(path: string, parameters: ReadonlyMap<string, string>, env: NodeJS.ProcessEnv): BusStream {
  const args: string[] = []
  for (let arg = parameters.get('argv1'); arg !== undefined; arg = parameters.get(`argv${args.length + 1}`)) args.push(arg)
  const program = spawn(path, args, { env, argv0: parameters.get('argv0') ?? path, stdio: ['pipe', 'pipe', 'ignore'] })
  const stream = new BusStream(program.stdout, program.stdin, () => program.kill('SIGKILL'))
  program.on('error', (error) => stream.destroy(error))
  return stream
}
