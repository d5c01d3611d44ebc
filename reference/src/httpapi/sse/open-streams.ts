import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from '../../log.ts'
import { EventStream, type CloseReason } from './event-stream.ts'

/** The kinds of streams, in the order in which they end when the server stops (S19). */
const kinds = ['event', 'global', 'pending'] as const

interface StreamInfo {
  kind: (typeof kinds)[number]
  /** The directory for which the stream was opened; null for all directories. */
  directory: string | null
  /** The client of a pending stream. */
  clientID?: string
}

/** Connects a new stream to its source. Returns the function to call when the stream ends, for any reason. */
type Attach = (stream: EventStream) => (reason: CloseReason) => void

/** Every open event stream of the server. */
export class OpenStreams {
  readonly #streams = new Map<EventStream, StreamInfo>()
  readonly #logger: Logger
  #ended = false

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Opens a stream. After `endAll`, a new stream ends as soon as it is attached. */
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

  /** The directories with an open `/event` stream, ordered by when their first stream was opened. */
  directories(): string[] {
    const directories = new Set<string>()
    for (const { kind, directory } of this.#streams.values()) {
      if (kind === 'event' && directory !== null) directories.add(directory)
    }
    return [...directories]
  }

  /**
   * Ends all streams, one kind after the other. In between, readers that keep up have time to read the rest, so they see their
   * streams end in this order.
   */
  async endAll(): Promise<void> {
    this.#ended = true
    for (const kind of kinds) {
      for (const [stream, info] of [...this.#streams]) if (info.kind === kind) stream.end()
      await nextTurn()
    }
  }
}
