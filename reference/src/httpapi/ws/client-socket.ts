import type { Socket } from 'node:net'
import { startTicker } from '../sse/ticker.ts'
import { closeFrame, emptyPing, pongFrame } from './frame.ts'
import { FrameReader, type Received } from './frame-reader.ts'
import type { SocketSession } from './handshake.ts'

/** The most bytes of a message (CT 7.1). */
const maxMessage = 16 * 1024 * 1024
/** How long the server waits for the client after a close (S64). */
const closeMs = 1000
/** How many pongs may wait for a client that reads nothing. The oldest are left out, which RFC 6455 §5.5.3 allows. */
const maxPongs = 64

/** Waits until this many bytes may be written on all connections; undefined if they may be written now. */
type TakeTurn = (bytes: number) => Promise<void> | undefined

/**
 * A WebSocket of a client, after the handshake (CT 7.1).
 *
 * Messages to the client come from the session's stream, one by one. Each is one write, and the next is taken when the connection
 * accepts more. So a control frame, which is written at once, passes the messages that wait, but not the one being written.
 *
 * Messages of the client are handled one after the other. Meanwhile nothing more is read.
 */
export class ClientSocket {
  readonly #socket: Socket
  readonly #session: SocketSession
  readonly #takeTurn: TakeTurn
  readonly #frames = new FrameReader(maxMessage)
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #stopPings: () => void
  /** Resolves when everything that has arrived is handled. */
  #turn = Promise.resolve()
  #waiting = 0
  /** Pongs that wait until the connection accepts more. */
  #pongs: Uint8Array[] = []
  #heard = performance.now()
  #silence: NodeJS.Timeout | undefined
  /** Set when the first close is sent or received. Then no more messages are written or handled. */
  #isClosing = false
  #linger: NodeJS.Timeout | undefined

  /** Takes a connection over. `early` are bytes of it that have already arrived. */
  constructor(socket: Socket, early: readonly Uint8Array[], session: SocketSession, takeTurn: TakeTurn) {
    this.#socket = socket
    this.#session = session
    this.#takeTurn = takeTurn
    this.#reader = session.stream.body.getReader()
    this.#stopPings = startTicker(session.keepaliveInterval, () => {
      socket.write(emptyPing)
    })
    this.#watchSilence()
    socket.once('close', () => {
      this.#after(() => {
        this.#beginClose()
      })
      clearTimeout(this.#linger)
    })
    socket.once('end', () => {
      this.#after(() => {
        this.#end()
      })
    })
    // This comes before the listener that continues with the messages.
    socket.on('drain', () => {
      if (!this.#isClosing) for (const pong of this.#pongs.splice(0)) socket.write(pong)
    })
    for (const bytes of early) this.#feed(bytes)
    socket.on('data', (bytes: Buffer) => {
      this.#feed(bytes)
    })
    void this.#writeMessages()
  }

  /** Drops the connection if nothing arrives for two intervals. */
  #watchSilence(): void {
    const left = this.#heard + 2 * this.#session.keepaliveInterval - performance.now()
    if (left <= 0 && this.#waiting === 0) this.#socket.destroy()
    else this.#silence = setTimeout(() => { this.#watchSilence() }, Math.max(1, Math.ceil(left)))
  }

  #feed(bytes: Uint8Array): void {
    this.#heard = performance.now()
    for (const received of this.#frames.feed(bytes)) this.#take(received)
    if (this.#waiting > 0) this.#socket.pause()
  }

  #take(received: Received): void {
    switch (received.type) {
      case 'message':
        this.#waiting++
        this.#after(async () => {
          if (!this.#isClosing) await this.#session.handle(received.text)
          this.#waiting--
          if (this.#waiting === 0) this.#socket.resume()
        })
        break
      case 'ping':
        this.#pong(received.payload)
        break
      case 'pong':
        break
      case 'close':
        this.#after(() => {
          this.#end(closeFrame(received.code))
        })
        break
      case 'fault':
        this.#after(() => {
          this.#close(received.code)
        })
        break
      default:
        received satisfies never
    }
  }

  /** Runs a task after everything that arrived earlier. */
  #after(task: () => Promise<void> | void): void {
    this.#turn = this.#turn.then(task)
  }

  #pong(payload: Uint8Array): void {
    if (this.#isClosing) return
    if (this.#socket.writableNeedDrain) this.#pongs = [...this.#pongs, pongFrame(payload)].slice(-maxPongs)
    else this.#socket.write(pongFrame(payload))
  }

  async #writeMessages(): Promise<void> {
    try {
      for (let part = await this.#reader.read(); !part.done; part = await this.#reader.read()) {
        await this.#takeTurn(part.value.length)
        if (this.#isClosing) return
        if (!this.#socket.write(part.value)) await this.#drained()
      }
      this.#close(1001) // the server stops
    } catch {
      this.#close(1013) // the client is too slow (S16)
    }
  }

  async #drained(): Promise<void> {
    if (this.#socket.destroyed) return
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        this.#socket.off('drain', settle)
        this.#socket.off('close', settle)
        resolve()
      }
      this.#socket.on('drain', settle)
      this.#socket.on('close', settle)
    })
  }

  /** Sends the first close, and waits for that of the client. */
  #close(code: number): void {
    if (!this.#beginClose() || this.#socket.destroyed) return
    this.#frames.ignoreMessages()
    this.#socket.write(closeFrame(code))
    this.#lingers()
  }

  /** Ends the connection: the client has sent a close or no longer sends. A close is answered, unless the server began. */
  #end(answer?: Uint8Array): void {
    const isFirst = this.#beginClose()
    if (this.#socket.destroyed) return
    if (isFirst && answer !== undefined) this.#socket.write(answer)
    this.#socket.end()
    this.#lingers()
  }

  /** Starts the disconnect handling, unless it has begun. */
  #beginClose(): boolean {
    if (this.#isClosing) return false
    this.#isClosing = true
    this.#stopPings()
    clearTimeout(this.#silence)
    void this.#reader.cancel().catch(() => undefined) // a stream that failed is already over
    return true
  }

  #lingers(): void {
    this.#linger ??= setTimeout(() => this.#socket.destroy(), closeMs)
  }
}
