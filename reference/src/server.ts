import { isIPv6 } from 'node:net'
import { createApp } from './app.ts'
import type { AppOptions } from './app.ts'
import { removeLeftPythonFiles } from './mcp/client/python-file.ts'
import { HttpServer } from './httpapi/conn/http-server.ts'
import type { Logger } from './log.ts'
import { RecipeWorkerThread } from './domain/recipe/recipe-worker.ts'
import { ConfigStore } from './settings/config-store.ts'
import { prepareDirectories } from './settings/paths.ts'

export interface ServerOptions extends Omit<AppOptions, 'recipeWorker'> {
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

/** How long connections get to take what has been written before they are cut. */
const graceMs = 3000
/** How long it may take then to end what replies have used. With the exit of the process both have to stay below the 5 s of S19. */
const restMs = 1500

/** Starts the server and resolves when it listens. */
export async function startServer(options: ServerOptions, logger: Logger): Promise<RunningServer> {
  prepare(options, logger)
  const app = createApp({ ...options, recipeWorker: new RecipeWorkerThread() }, logger)
  const http = new HttpServer(app.fetch, logger)
  const { port } = await http.listen(options.host, options.port)
  // As it was given, not as the platform would write it (S36).
  const host = isIPv6(options.host) ? `[${options.host}]` : options.host
  return {
    url: `http://${host}:${port}`,
    stop: async () => {
      http.stopAccepting()
      await Promise.all([app.stop(), http.drain(graceMs)])
      await within(restMs, app.ended())
    },
  }
}

/** Waits for something, but not for longer than this. */
async function within(ms: number, something: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))
  await Promise.race([something, late])
  clearTimeout(timer)
}

/** Makes what the goose server expects to find (GA 1.5). A server that cannot still serves what needs no files. */
function prepare({ paths, environment }: ServerOptions, logger: Logger): void {
  removeLeftPythonFiles(environment)
  try {
    prepareDirectories(paths, new Date())
    new ConfigStore(paths.config, logger).load()
  } catch (err) {
    logger.warn('directories not ready', { err })
  }
}
