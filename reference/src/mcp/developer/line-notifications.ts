import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { ProgressToken } from '@modelcontextprotocol/sdk/types.js'
import { trimmed } from '../../text/white-space.ts'
import type { StreamName } from './shell-output.ts'

interface Notice {
  type: 'shell_output'
  stream: StreamName
  output: string
}

/** Sends a command's output lines to the client, as fast as the client reads them. The command does not wait for that (X16). */
export class LineNotifications {
  readonly #transport: Pick<Transport, 'send'>
  readonly #meta: { _meta?: { progressToken: ProgressToken } }
  readonly #signal: AbortSignal
  #waiting: Notice[] = []
  #sending: Promise<void> | undefined
  #dropped = false

  /** The signal ends the call. After that, nothing more is sent. */
  constructor(transport: Pick<Transport, 'send'>, progressToken: ProgressToken | undefined, signal: AbortSignal) {
    this.#transport = transport
    this.#meta = progressToken === undefined ? {} : { _meta: { progressToken } }
    this.#signal = signal
  }

  add(line: string, stream: StreamName): void {
    const output = trimmed(line)
    if (output === '' || this.#isOver) return
    this.#waiting.push({ type: 'shell_output', stream, output })
    this.#sending ??= this.#send()
  }

  /** Resolves when all lines are sent. */
  async sent(): Promise<void> {
    await this.#sending
  }

  /** Drops the lines that are not yet sent. */
  drop(): void {
    this.#dropped = true
  }

  get #isOver(): boolean {
    return this.#dropped || this.#signal.aborted
  }

  /** Sends through the transport, because the SDK sends these notifications only for servers that announce logging. */
  async #send(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      for (const data of batch) {
        if (this.#isOver) return
        const params = { level: 'info', logger: 'shell_tool', data, ...this.#meta }
        await this.#transport.send({ jsonrpc: '2.0', method: 'notifications/message', params })
      }
    }
    this.#sending = undefined
  }
}
