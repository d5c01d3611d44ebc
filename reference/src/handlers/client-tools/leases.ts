import type { Bus } from '../events/bus.ts'
import type { Logger } from '../../log.ts'
import { RateLimitedError, type Registry } from './registry.ts'
import type { LeaseFiles } from './lease-files.ts'
import { fullToolID } from './tool-id.ts'

interface LeaseDeps {
  registry: Registry
  bus: Bus
  files: LeaseFiles
  logger: Logger
}

interface Lease {
  seconds: number
  /** The scope of the registration, in which the end is published. */
  directory: string
  /** Set while it runs, because the client is away. */
  running?: { deadline: number; timer: NodeJS.Timeout }
}

/** How often the server notes that it is alive, while a lease runs. */
const touchMs = 1000

/**
 * The leases of clients: how long their tools stay after a disconnect (CT 14.4, S79). A lease runs from the end of the client's
 * last stream until another one is opened.
 */
export class Leases {
  readonly #deps: LeaseDeps
  readonly #leases = new Map<string, Lease>()
  /** How many streams each client has. */
  readonly #streams = new Map<string, number>()
  #touching: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(deps: LeaseDeps) {
    this.#deps = deps
  }

  /** Registers the tools of leases that were stored. Their clients are away since now. */
  restore(): void {
    const { registry, files, logger } = this.#deps
    for (const { clientID, directory, seconds, leftMs, tools } of files.read()) {
      if (leftMs <= 0) {
        files.remove(clientID)
        continue
      }
      const prefix = fullToolID(clientID, '')
      try {
        registry.register(clientID, tools.map((tool) => ({ ...tool, id: tool.id.slice(prefix.length) })))
      } catch (err) {
        if (!(err instanceof RateLimitedError)) throw err
        logger.warn('lease not restored', { clientID, err })
        continue
      }
      this.#leases.set(clientID, { seconds, directory })
      this.#run(clientID, leftMs)
    }
  }

  /** Sets or removes the lease of a client that has registered. One that runs starts again. */
  set(clientID: string, directory: string, seconds: number | undefined): void {
    if (seconds === undefined) {
      this.end(clientID)
      return
    }
    const isAway = this.isAway(clientID)
    this.#pause(clientID)
    this.#leases.set(clientID, { seconds, directory })
    if (isAway) this.#run(clientID, seconds * 1000)
    else this.changed(clientID)
  }

  /** Whether a client has a lease that runs. */
  isAway(clientID: string): boolean {
    return this.#leases.get(clientID)?.running !== undefined
  }

  /** A stream of a client was opened. */
  opened(clientID: string): void {
    this.#streams.set(clientID, (this.#streams.get(clientID) ?? 0) + 1)
    if (!this.isAway(clientID)) return
    this.#pause(clientID)
    this.changed(clientID)
  }

  /** A stream of a client was closed. Returns whether its tools stay. */
  closed(clientID: string): boolean {
    const left = (this.#streams.get(clientID) ?? 1) - 1
    if (left > 0) this.#streams.set(clientID, left)
    else this.#streams.delete(clientID)
    const lease = this.#leases.get(clientID)
    if (lease === undefined) return false
    if (left <= 0) this.#run(clientID, lease.seconds * 1000)
    return true
  }

  /** The tools of a client have changed. */
  changed(clientID: string): void {
    const lease = this.#leases.get(clientID)
    if (lease === undefined || this.#isStopped) return
    const { registry, files } = this.#deps
    const { seconds, directory, running } = lease
    const times = { ...(running !== undefined && { deadline: running.deadline }), saved: Date.now() }
    files.save({ clientID, directory, seconds, ...times, order: registry.orderOf(clientID) }, registry.list(clientID))
  }

  /** Ends a lease, without any effect on the tools. */
  end(clientID: string): void {
    if (!this.#leases.has(clientID) || this.#isStopped) return
    this.#pause(clientID)
    this.#leases.delete(clientID)
    this.#deps.files.remove(clientID)
  }

  /** The server stops: leases keep what is left of them. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    if (this.#leases.size > 0) this.#deps.files.touch()
    clearInterval(this.#touching)
    for (const { running } of this.#leases.values()) clearTimeout(running?.timer)
  }

  #run(clientID: string, ms: number): void {
    const lease = this.#leases.get(clientID)
    if (lease === undefined || this.#isStopped) return
    const timer = setTimeout(() => {
      this.#expire(clientID, lease.directory)
    }, ms)
    lease.running = { deadline: Date.now() + ms, timer }
    this.changed(clientID)
    this.#touching ??= setInterval(() => {
      this.#deps.files.touch()
    }, touchMs).unref()
  }

  /** Stops the clock of a lease. */
  #pause(clientID: string): void {
    const lease = this.#leases.get(clientID)
    if (lease?.running === undefined) return
    clearTimeout(lease.running.timer)
    delete lease.running
    if ([...this.#leases.values()].some(({ running }) => running !== undefined)) return
    clearInterval(this.#touching)
    this.#touching = undefined
  }

  #expire(clientID: string, directory: string): void {
    this.end(clientID)
    const toolIDs = this.#deps.registry.unregisterAll(clientID)
    if (toolIDs.length > 0) this.#deps.bus.publish(directory, { type: 'client-tool.unregistered', properties: { clientID, toolIDs } })
  }
}
