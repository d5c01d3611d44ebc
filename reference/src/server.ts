import { isIPv6 } from 'node:net'
import { createApp, type AppOptions } from './app.ts'
import { removeLeftPythonFiles } from './mcp/client/python-file.ts'
import { HttpServer } from './httpapi/conn/http-server.ts'
import type { Logger } from './log.ts'
import { RecipeWorkerThread } from './domain/recipe/recipe-worker.ts'
import { prepareDirectories } from './settings/paths.ts'
import { Settings } from './settings/settings.ts'
import { within } from './within.ts'

export interface ServerOptions extends Omit<AppOptions, 'recipeWorker'> {
  /** An IP address. */
  host: string
  /** 0 picks a free port. */
  port: number
}

export interface RunningServer {
  /** For example `http://127.0.0.1:3000`. */
  url: string
  /** Stops gracefully (S19). Resolves when the last connection is closed. */
  stop: () => Promise<void>
}

/** How long connections may take to finish before they are cut off. */
const graceMs = 3000
/**
 * How long it may then take to close what replies have used. Including the exit of the process, both must stay below the 5 s of
 * S19.
 */
const restMs = 1500

/** Starts the server, and resolves when it listens. */
export async function startServer(options: ServerOptions, logger: Logger): Promise<RunningServer> {
  prepare(options, logger)
  const app = createApp({ ...options, recipeWorker: new RecipeWorkerThread() }, logger)
  const http = new HttpServer(app.fetch, logger, { telemetry: options.telemetry })
  const { port } = await http.listen(options.host, options.port)
  // The host as it was given: the platform might write it differently (S36).
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

/** Creates the directories of the goose server (GA 1.5). If that fails, the server still serves requests that need no files. */
function prepare({ paths, environment }: ServerOptions, logger: Logger): void {
  removeLeftPythonFiles(environment)
  try {
    prepareDirectories(paths, new Date())
    new Settings(paths, environment, logger).stored()
  } catch (err) {
    logger.warn('directories not ready', { err })
  }
}
