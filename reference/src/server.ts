import { isIPv6 } from 'node:net'
import { createApp } from './app.ts'
import type { AppOptions } from './app.ts'
import { HttpServer } from './http/http-server.ts'
import type { Logger } from './log.ts'
import { ConfigStore } from './settings/config-store.ts'
import { prepareDirectories } from './settings/paths.ts'
import type { Paths } from './settings/paths.ts'

export interface ServerOptions extends AppOptions {
  /** An IP literal. */
  host: string
  /** 0 picks a free one. */
  port: number
}

export interface RunningServer {
  /** For example `http://127.0.0.1:3000`. */
  url: string
  /** Stops gracefully (S19) and resolves when the last connection is closed. */
  stop: () => Promise<void>
}

/**
 * How long connections get to take what has been written before they are cut. With the exit of the process it has to
 * stay below the 5 s of S19.
 */
const graceMs = 3000

/** Starts the server and resolves when it listens. */
export async function startServer(options: ServerOptions, logger: Logger): Promise<RunningServer> {
  prepare(options.paths, logger)
  const app = createApp(options, logger)
  const http = new HttpServer(app.fetch, logger)
  const { port } = await http.listen(options.host, options.port)
  // As it was given, not as the platform would write it (S36).
  const host = isIPv6(options.host) ? `[${options.host}]` : options.host
  return {
    url: `http://${host}:${port}`,
    stop: async () => {
      http.stopAccepting()
      await app.stop()
      await http.drain(graceMs)
    },
  }
}

/** Makes what the goose server expects to find (GA 1.5). A server that cannot still serves what needs no files. */
function prepare(paths: Paths, logger: Logger): void {
  try {
    prepareDirectories(paths, new Date())
    new ConfigStore(paths.config).load()
  } catch (err) {
    logger.warn('directories not ready', { err })
  }
}
