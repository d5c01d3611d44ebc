import { createHash } from 'node:crypto'
import { closeSync, readFileSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { ClientToolDefinition } from '#contract'
import { isMissing } from '../../error-code.ts'
import type { Logger } from '../../log.ts'
import { openPrivate, replaceFile } from '../../settings/private-files.ts'
import { isObject } from '../../wire/json/is-object.ts'
import { parseJson } from '../../wire/json/parse.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { number, object, optional, record, string, array, validate, type Schema } from './schema.ts'

/** A lease with the tools that it keeps. Times are milliseconds since 1970. */
export interface StoredLease {
  clientID: string
  /** The scope of the registration. */
  directory: string
  seconds: number
  /** When it is over; absent while the client is connected, or has never been. */
  deadline?: number
  /** When this was written. */
  saved: number
  /** The client's place in the order of clients. */
  order: number
}

type Restored = StoredLease & { tools: ClientToolDefinition[] }

const tool: Schema<ClientToolDefinition> = object({ id: string, description: string, parameters: record })
const stored: Schema<Restored> = object({
  clientID: string, directory: string, seconds: number, deadline: optional(number), saved: number, order: number, tools: array(tool),
})

/**
 * The leases on disk: a file for each, and one whose time says when the server was last alive. So a lease does not run while the
 * server does not (S79). A failure to write is logged; then the lease ends with the server.
 */
export class LeaseFiles {
  readonly #directory: string
  readonly #logger: Logger

  constructor(dataDirectory: string, logger: Logger) {
    this.#directory = join(dataDirectory, 'leases')
    this.#logger = logger
  }

  /** Stores a lease. `tools` is a JSON array, in pieces. */
  save(lease: StoredLease, tools: readonly Uint8Array[]): void {
    const path = this.#path(lease.clientID)
    this.#attempt('lease not stored', () => {
      const head = Buffer.from(stringifyJson(lease).slice(0, -1) + ',"tools":')
      replaceFile(path, Buffer.concat([head, ...tools, Buffer.from('}')]))
    })
  }

  remove(clientID: string): void {
    this.#attempt('lease not removed', () => {
      rmSync(this.#path(clientID), { force: true })
    })
  }

  /** Notes that the server is alive. */
  touch(): void {
    const path = join(this.#directory, 'alive')
    const now = Date.now() / 1000
    this.#attempt('time of leases not stored', () => {
      closeSync(openPrivate(path, 'a'))
      utimesSync(path, now, now)
    })
  }

  /** The stored leases in the order of their clients, with the time that each has left. */
  read(): (Restored & { leftMs: number })[] {
    let [names, alive]: [string[], number] = [[], 0]
    this.#attempt('leases not read', () => {
      names = readdirSync(this.#directory).filter((name) => name.endsWith('.json'))
      alive = statSync(join(this.#directory, 'alive'), { throwIfNoEntry: false })?.mtimeMs ?? 0
    })
    return names.flatMap((name) => this.#readOne(name)).sort((a, b) => a.order - b.order).map((lease) => {
      const whole = lease.seconds * 1000
      const left = lease.deadline === undefined ? whole : lease.deadline - Math.max(alive, lease.saved)
      return { ...lease, leftMs: Math.min(left, whole) }
    })
  }

  #readOne(name: string): Restored[] {
    try {
      const value = parseJson(readFileSync(join(this.#directory, name)))
      return isObject(value) ? [validate(stored, value)] : []
    } catch (err) {
      this.#logger.warn('lease not read', { file: name, err })
      return []
    }
  }

  #path(clientID: string): string {
    return join(this.#directory, `${createHash('sha256').update(clientID).digest('hex')}.json`)
  }

  #attempt(failure: string, run: () => void): void {
    try {
      run()
    } catch (err) {
      if (!isMissing(err)) this.#logger.warn(failure, { err })
    }
  }
}
