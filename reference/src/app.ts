import { requireSecretKey } from './auth/secret-key.ts'
import { pendingRequests } from './client-tools/pending-stream.ts'
import { codedError, executionFailed, plainError } from './client-tools/error-response.ts'
import { execute } from './client-tools/execute.ts'
import { Executions } from './client-tools/executions.ts'
import { listAllTools, listTools, register, submitResult, unregister } from './client-tools/handlers.ts'
import { Registry } from './client-tools/registry.ts'
import { Bus } from './events/bus.ts'
import { directoryEvents, globalEvents } from './events/event-streams.ts'
import { isClientToolsPath } from './http/family.ts'
import { gooseError } from './http/goose-errors.ts'
import { empty, json } from './http/respond.ts'
import { createRouter } from './http/router.ts'
import type { ErrorHandler } from './http/router.ts'
import type { Logger } from './log.ts'
import type { Environment, Paths } from './settings/paths.ts'
import { OpenStreams } from './sse/open-streams.ts'
import { status } from './status/status.ts'

/** What the behaviour depends on. All times are in milliseconds. */
export interface AppOptions {
  /** The directory that requests are about when they name none. */
  directory: string
  defaultTimeout: number
  keepaliveInterval: number
  /** Bytes of the largest request body of client tools. */
  maxBody: number
  /** What callers have to know to use the goose server (GA 2.2). */
  secretKey: string
  /** Where the goose server keeps what outlives it. */
  paths: Paths
  /** Variables override the settings of the file (GA 1.4). */
  environment: Environment
  /** How many agents are kept in memory (GA 6). */
  maxActiveAgents: number
}

/** The server without a port: a function from Request to Response, and its state. */
export interface App {
  /** Rejects with the reason of the request's signal if the caller went away and nobody is to be answered. */
  fetch: (request: Request) => Promise<Response>
  /** Fails what waits, says goodbye on `/event` and ends all streams, in the order of S19. */
  stop: () => Promise<void>
}

export function createApp(options: AppOptions, logger: Logger): App {
  const bus = new Bus()
  const registry = new Registry()
  const executions = new Executions(bus)
  const streams = new OpenStreams(logger)
  const parts = { bus, registry, executions, streams, defaultDirectory: options.directory, ...options }

  const router = createRouter(
    [
      { method: 'POST', path: '/client-tools/register', handler: register(parts) },
      { method: 'DELETE', path: '/client-tools/unregister', handler: unregister(parts) },
      { method: 'POST', path: '/client-tools/result', handler: submitResult(parts) },
      { method: 'POST', path: executePath, handler: execute(parts) },
      { method: 'GET', path: '/client-tools/tools', handler: listAllTools(parts) },
      { method: 'GET', path: '/client-tools/tools/:clientID', handler: listTools(parts) },
      { method: 'GET', path: '/client-tools/pending/:clientID', handler: pendingRequests(parts) },
      { method: 'GET', path: '/event', handler: directoryEvents(bus, streams, options.directory) },
      { method: 'GET', path: '/global/event', handler: globalEvents(bus, streams) },
      { method: 'GET', path: '/status', handler: status },
    ],
    requireSecretKey(options.secretKey),
    errorHandler(logger),
  )

  return {
    fetch: async (request) => router.fetch(request),
    stop: async () => {
      executions.stop()
      for (const directory of streams.directories()) {
        bus.publish(directory, { type: 'server.instance.disposed', properties: { directory } })
      }
      await streams.endAll()
    },
  }
}

const executePath = '/client-tools/execute'

function errorHandler(logger: Logger): ErrorHandler {
  return (error, request, path) => {
    const answers = isClientToolsPath(path) ? clientToolsAnswers(path) : gooseAnswers
    const foreseen = answers.foreseen(error)
    if (foreseen !== undefined) return foreseen
    if (request.signal.aborted) throw error
    logger.error('request failed', { method: request.method, path, err: error })
    return answers.unforeseen()
  }
}

/** How a family of paths answers errors. The text of an error that nobody foresaw is for the log. */
interface ErrorAnswers {
  foreseen: (error: Error) => Response | undefined
  unforeseen: () => Response
}

function clientToolsAnswers(path: string): ErrorAnswers {
  const message = 'Internal server error'
  if (path === executePath) return { foreseen: codedError, unforeseen: () => executionFailed(message) }
  return { foreseen: plainError, unforeseen: () => json(500, { name: 'UnknownError', data: { message } }) }
}

/** A crash inside one request is a 500, and the others go on (GA 19). */
const gooseAnswers: ErrorAnswers = { foreseen: gooseError, unforeseen: () => empty(500) }
