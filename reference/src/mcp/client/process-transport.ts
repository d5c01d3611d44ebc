import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { isDirectory } from '../../settings/directories.ts'
import { signalGroup } from '../../signal-group.ts'
import { within } from '../../within.ts'
import { ExtensionError } from './connection.ts'
import { findCommand, type CommandSearch } from './find-command.ts'
import { guardGroup, prepareGuard, releaseGroup } from './process-guard.ts'
import { cancelledId, isUnexpectedAnswer, rpcMessage, rpcValue } from './rpc-message.ts'
import { ProtocolViolationError, maxMessageBytes } from './event-messages.ts'
import { redactError } from './redact-error.ts'

/** How long each step of ending a process may take (X11). */
const rungMs = 1000
/** The most bytes that may wait for a process that does not read: one message. */
const maxWaitingBytes = maxMessageBytes

export interface ProcessOptions extends CommandSearch {
  args: readonly string[]
  environment: Record<string, string>
  /** Called when the process has ended, or cannot be started. */
  onEnded?: (() => void) | undefined
  /** Receives what the process writes to its standard error. */
  onError?: (chunk: Buffer) => void
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** The transports with a running process. */
const running = new Set<ProcessTransport>()

// A graceful stop has already closed all connections (X11). Any other exit cannot wait.
process.on('exit', () => {
  for (const transport of running) transport.abandon()
})

/** MCP over the standard streams of a process, which leads its own process group (X10). */
export class ProcessTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #options: ProcessOptions
  #child: Child | undefined
  /** Resolves when the process has ended. */
  #ended: Promise<void> = Promise.resolve()
  /** Requests that have not been completely written to the process. */
  readonly #unwritten = new Set<string | number>()
  #line: Buffer[] = []
  #lineBytes = 0
  #closing: Promise<void> | undefined
  /** Whether the process was sent a signal to end. */
  #terminated = false
  #givenUp = false

  constructor(options: ProcessOptions) {
    this.#options = options
  }

  /** Rejects with an ExtensionError. */
  async start(): Promise<void> {
    const { onEnded, onError } = this.#options
    prepareGuard()
    const child = await this.#launch()
    this.#child = child
    running.add(this)
    const group = child.pid ?? 0 // the process has started, so it has an id
    guardGroup(group)
    this.#ended = new Promise((resolve) => {
      child.once('exit', () => {
        running.delete(this)
        this.#signal('SIGKILL') // kills the rest of its group
        releaseGroup(group)
        onEnded?.()
        // A process that left the group may still hold the output open.
        const letGo = (): void => {
          child.stdout.destroy()
          child.stderr.destroy()
        }
        setTimeout(() => setImmediate(letGo), rungMs).unref()
        resolve()
      })
    })
    child.stdin.on('error', (error) => this.onerror?.(error))
    child.stdout.on('data', (chunk: Buffer) => {
      this.#take(chunk)
    })
    child.stderr.on('data', (chunk: Buffer) => onError?.(chunk))
    child.once('close', () => this.onclose?.())
  }

  async #launch(): Promise<Child> {
    try {
      return await launch(this.#options)
    } catch (error) {
      this.#options.onEnded?.()
      throw error
    }
  }

  /**
   * Sends a message. Ends the connection if too many bytes wait, or if the message cancels a request that is not yet written
   * (X37).
   */
  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (stdin?.writable !== true) throw new Error('the process has ended')
    const line = Buffer.from(`${stringifyJson(message)}\n`)
    const cancelled = cancelledId(message)
    if (stdin.writableLength + line.length - 1 > maxWaitingBytes || (cancelled !== undefined && this.#unwritten.has(cancelled))) {
      const error = new Error('the process does not read')
      stdin.destroy() // waiting bytes would keep it open
      this.#giveUp(error)
      throw error
    }
    const id = 'method' in message && 'id' in message ? message.id : undefined
    if (id !== undefined) this.#unwritten.add(id)
    await new Promise<void>((resolve, reject) => {
      stdin.write(line, (error) => {
        if (id !== undefined) this.#unwritten.delete(id)
        if (error) reject(error)
        else resolve()
      })
    })
  }

  /** Ends the process, by force if it does not end by itself. */
  close(): Promise<void> {
    return (this.#closing ??= this.#end())
  }

  /**
   * Signals the process when this program ends, without waiting. SIGTERM comes first, so that the process can end its own
   * children.
   */
  abandon(): void {
    this.#signal(this.#terminated ? 'SIGKILL' : 'SIGTERM')
  }

  async #end(): Promise<void> {
    this.#child?.stdin.end()
    if (await within(rungMs, this.#ended)) return
    this.#terminated = true
    this.#signal('SIGTERM')
    if (await within(rungMs, this.#ended)) return
    this.#signal('SIGKILL')
    await this.#ended
  }

  #signal(signal: NodeJS.Signals): void {
    signalGroup(this.#child?.pid, signal)
  }

  #take(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      this.#add(chunk.subarray(start, end))
      if (!this.#givenUp) this.#message(Buffer.concat(this.#line))
      if (this.#givenUp) return
      this.#line = []
      this.#lineBytes = 0
      start = end + 1
    }
    this.#add(chunk.subarray(start))
  }

  #add(part: Buffer): void {
    this.#lineBytes += part.length
    if (this.#lineBytes > maxMessageBytes) this.#giveUp(new ProtocolViolationError('a message is too large'))
    else this.#line.push(part)
  }

  #message(line: Buffer): void {
    if (isBlank(line)) return
    let message: JSONRPCMessage
    try {
      message = rpcMessage(rpcValue(line))
    } catch (cause) {
      this.#giveUp(new ProtocolViolationError('a line is no JSON-RPC', { cause }))
      return
    }
    if (!isUnexpectedAnswer(message)) this.onmessage?.(message)
  }

  /** Closes the connection to a server that violates the protocol (X12), or does not read. */
  #giveUp(error: Error): void {
    this.#givenUp = true
    this.#line = []
    this.#child?.stdout.removeAllListeners('data')
    this.#child?.stdout.resume()
    this.onerror?.(error)
    this.onclose?.()
    void this.close()
  }
}

/** Whether a line contains only JSON white space, for example between two line feeds. */
function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}

/** Starts a process. Rejects with an ExtensionError. */
function launch(options: ProcessOptions): Promise<Child> {
  const { command, args, environment: env, directory: cwd } = options
  const file = findCommand(options)
  if (file === undefined) throw new ExtensionError(`Command not found: ${command}`)
  // A missing directory would look like a missing command.
  if (!isDirectory(cwd)) throw new ExtensionError(`Directory not found: ${cwd}`)
  return new Promise((resolve, reject) => {
    const failed = (cause: unknown): void => {
      reject(new ExtensionError(`Command cannot be started: ${command}`, { cause: redactError(cause) }))
    }
    try {
      const child = spawn(file, args, { argv0: command, env, cwd, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
      child.once('error', failed)
      child.once('spawn', () => {
        resolve(child)
      })
    } catch (cause) {
      failed(cause) // for example a zero byte in an argument
    }
  })
}
