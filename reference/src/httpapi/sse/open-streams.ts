import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from '../../log.ts'
import { EventStream } from './event-stream.ts'
import type { CloseReason } from './event-stream.ts'

/** The kinds of streams, in the order in which they end when the server stops (S19). */
const kinds = ['event', 'global', 'pending'] as const

interface StreamInfo {
  kind: (typeof kinds)[number]
  /** The directory the stream was opened for; null for all of them. */
  directory: string | null
  /** The client of a pending stream. */
  clientID?: string
}

/** Connects a new stream to its source. Returns what to do when the stream is over, for whatever reason. */
type Attach = (stream: EventStream) => (reason: CloseReason) => void

/** Every open event stream of the server. */
export class OpenStreams {
  readonly #streams = new Map<EventStream, StreamInfo>()
  readonly #logger: Logger
  #ended = false

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Opens a stream. One that comes after `endAll` is over as soon as it is attached. */
  open(info: StreamInfo, attach: Attach): EventStream {
    const stream = new EventStream((reason) => {
      this.#streams.delete(stream)
      if (reason.type === 'overflow') {
        const { kind, ...fields } = info
        const { events, bytes } = reason
        this.#logger.warn('event queue full, stream ended', { stream: kind, ...fields, events, bytes })
      }
      detach(reason)
    })
    const detach = attach(stream)
    this.#streams.set(stream, info)
    if (this.#ended) stream.end()
    return stream
  }

  /** The directories with an open `/event` stream, in the order in which the first of each was opened. */
  directories(): string[] {
    const directories = new Set<string>()
    for (const { kind, directory } of this.#streams.values()) {
      if (kind === 'event' && directory !== null) directories.add(directory)
    }
    return [...directories]
  }

  /**
   * Ends all streams, one kind after the other. In between, readers that keep up get the time to take what is left, so
   * that they see their streams end in this order, too.
   */
  async endAll(): Promise<void> {
    this.#ended = true
    for (const kind of kinds) {
      for (const [stream, info] of [...this.#streams]) if (info.kind === kind) stream.end()
      await nextTurn()
    }
  }
}
