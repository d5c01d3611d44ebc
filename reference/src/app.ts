import type { Handler } from 'hono'
import { Agents } from './agent/agents.ts'
import {
  resumeAgent, startAgent, stopAgent, updateFromSession, updateRouterToolSelector,
} from './agent/handlers.ts'
import { listAgentTools } from './agent/tool-list.ts'
import { requireSecretKey } from './auth/secret-key.ts'
import { pendingRequests } from './client-tools/pending-stream.ts'
import { codedError, executionFailed, plainError } from './client-tools/error-response.ts'
import { execute } from './client-tools/execute.ts'
import { Executions } from './client-tools/executions.ts'
import { listAllTools, listTools, register, submitResult, unregister } from './client-tools/handlers.ts'
import { Registry, defaultBounds } from './client-tools/registry.ts'
import type { RegistryBounds } from './client-tools/registry.ts'
import { Bus } from './events/bus.ts'
import { directoryEvents, globalEvents } from './events/event-streams.ts'
import { AgentExtensions } from './extensions/agent-extensions.ts'
import { addConfigured, addExtension, removeExtension } from './extensions/handlers.ts'
import type { AgentWithExtensions } from './extensions/handlers.ts'
import { Bodies } from './http/body.ts'
import { isClientToolsPath } from './http/family.ts'
import { gooseError } from './http/goose-errors.ts'
import { empty, json } from './http/respond.ts'
import { createRouter } from './http/router.ts'
import type { ErrorHandler, Route } from './http/router.ts'
import { Providers } from './llm/providers.ts'
import type { Logger } from './log.ts'
import { RecipeLibrary } from './recipe/library.ts'
import type { Workshop } from './recipe/workshop.ts'
import { Confirmations } from './reply/confirmations.ts'
import { Elicitations } from './reply/elicitations.ts'
import { confirmTool, reply } from './reply/handlers.ts'
import { LargeTexts } from './reply/large-text.ts'
import { resumeProvider, updateProvider } from './reply/model-handlers.ts'
import { Naming } from './reply/naming.ts'
import { engineParts } from './reply/parts.ts'
import {
  deleteSession, editMessage, exportSession, getInsights, getSession, importSession, listSessions, setName, setRecipeValues,
} from './sessions/handlers.ts'
import type { Environment, Paths } from './settings/paths.ts'
import { Settings } from './settings/settings.ts'
import { OpenStreams } from './sse/open-streams.ts'
import { diagnostics } from './status/diagnostics.ts'
import { status } from './status/status.ts'
import { SessionStore } from './store/session-store.ts'
import type { LoadedSession } from './store/session-store.ts'

/** What the behaviour depends on. All times are in milliseconds. */
export interface AppOptions {
  /** The directory that requests are about when they name none. */
  directory: string
  defaultTimeout: number
  keepaliveInterval: number
  /** Bytes of the largest request body of client tools. */
  maxBody: number
  /** How slowly a body may begin (S41). */
  bodyGrace?: number
  /** What clients may register (S39). */
  clientTools?: RegistryBounds
  /** What callers have to know to use the goose server (GA 2.2). */
  secretKey: string
  /** Where the goose server keeps what outlives it. */
  paths: Paths
  /** Variables override the settings of the file (GA 1.4). */
  environment: Environment
  /** How many agents are kept in memory (GA 6). */
  maxActiveAgents: number
  /** How this program was started, to start it again as a built-in extension (GA 1.1). */
  ownCommand?: readonly string[]
  /** Works on recipes. It is closed when the app stops. */
  workshop: Workshop
}

/** The server without a port: a function from Request to Response, and its state. */
export interface App {
  /** Rejects with the reason of the request's signal if the caller went away and nobody is to be answered. */
  fetch: (request: Request) => Promise<Response>
  /** Fails what waits, says goodbye on `/event` and ends all streams, in the order of S19. */
  stop: () => Promise<void>
  /** Resolves when what replies used that went on after that is closed, too. */
  ended: () => Promise<void>
}

export function createApp(options: AppOptions, logger: Logger): App {
  const bus = new Bus()
  const { clientTools = defaultBounds } = options
  const registry = new Registry(clientTools)
  const bodies = new Bodies(options.bodyGrace)
  const executions = new Executions(bus)
  const streams = new OpenStreams(logger)
  const { maxTools } = clientTools
  const parts = { bus, registry, executions, streams, maxTools, defaultDirectory: options.directory, ...options }

  const goose = gooseServer(options, logger)

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
      ...goose.routes,
    ],
    requireSecretKey(options.secretKey),
    errorHandler(logger),
  )

  return {
    fetch: (request) => bodies.admit(request, () => router.fetch(request)),
    stop: async () => {
      executions.stop()
      for (const directory of streams.directories()) {
        bus.publish(directory, { type: 'server.instance.disposed', properties: { directory } })
      }
      await streams.endAll()
      await goose.stop()
    },
    ended: goose.ended,
  }
}

/** The goose server: its routes, and how it ends. A path with a parameter comes behind those that it would match (GA 2.1). */
function gooseServer(options: AppOptions, logger: Logger): { routes: Route[]; stop: () => Promise<void>; ended: () => Promise<void> } {
  const { paths } = options
  const settings = new Settings(paths, options.environment, logger)
  const store = new SessionStore(paths.data, logger)
  const { environment, directory, workshop, ownCommand = [] } = options
  const library = new RecipeLibrary(settings, directory, workshop)
  const around = { settings, store, environment, directory, ownCommand, logger }
  const makeParts = (id: string): AgentWithExtensions => {
    const session = store.own(id)
    return engineParts(session, new AgentExtensions(session, around))
  }
  const agents = new Agents(options.maxActiveAgents, makeParts, logger)
  store.onCreated = (id) => void agents.end(id) // one without a session (G30)
  const naming = new Naming(logger)
  const providers = new Providers(settings, logger)
  const largeTexts = new LargeTexts(settings)
  const asked = { confirmations: new Confirmations(), elicitations: new Elicitations() }
  const replyParts = { settings, store, agents, providers, naming, workshop, largeTexts, ...asked, logger }
  const loadModelAndExtensions = async (_: unknown, session: LoadedSession): Promise<void> => {
    const agent = agents.get(session.id)
    const release = agent.use()
    try {
      const added = addConfigured(agent.parts.extensions, settings, logger)
      await Promise.all([resumeProvider(replyParts, agent, session), added]).finally(() => added)
    } finally {
      release()
    }
  }
  const parts = { settings, store, library, agents, workshop, largeTexts, logger, paths, loadModelAndExtensions }
  const routes: Route[] = [
    { method: 'GET', path: '/diagnostics/:session_id', handler: diagnostics(parts) },
    { method: 'POST', path: '/agent/start', handler: startAgent(parts) },
    { method: 'POST', path: '/agent/resume', handler: resumeAgent(parts) },
    { method: 'POST', path: '/agent/update_from_session', handler: updateFromSession(parts) },
    { method: 'GET', path: '/agent/tools', handler: listAgentTools(parts) },
    { method: 'POST', path: '/agent/update_provider', handler: updateProvider(replyParts) },
    { method: 'POST', path: '/agent/update_router_tool_selector', handler: updateRouterToolSelector(parts) },
    { method: 'POST', path: '/agent/add_extension', handler: addExtension({ agents }) },
    { method: 'POST', path: '/agent/remove_extension', handler: removeExtension({ agents }) },
    { method: 'POST', path: '/agent/stop', handler: stopAgent(parts) },
    { method: 'POST', path: '/reply', handler: reply(replyParts) },
    { method: 'POST', path: '/action-required/tool-confirmation', handler: confirmTool(replyParts) },
    { method: 'GET', path: '/sessions', handler: listSessions(parts) },
    { method: 'POST', path: '/sessions/import', handler: importSession(parts) },
    { method: 'GET', path: '/sessions/insights', handler: getInsights(parts) },
    { method: 'GET', path: '/sessions/:session_id', handler: getSession(parts) },
    { method: 'DELETE', path: '/sessions/:session_id', handler: deleteSession(parts) },
    { method: 'GET', path: '/sessions/:session_id/export', handler: exportSession(parts) },
    { method: 'PUT', path: '/sessions/:session_id/name', handler: setName(parts) },
    { method: 'PUT', path: '/sessions/:session_id/user_recipe_values', handler: setRecipeValues(parts) },
    { method: 'POST', path: '/sessions/:session_id/edit_message', handler: editMessage(parts) },
  ]
  return {
    routes: routes.map(({ handler, ...route }) => ({ ...route, handler: whenOpen(store, handler) })),
    stop: async () => {
      await naming.stop()
      await agents.stopAll()
      await workshop.close()
    },
    ended: () => agents.closed(),
  }
}

/** A handler that waits for the store: the first request has all logs read. */
function whenOpen(store: SessionStore, handler: Handler): Handler {
  return async (c, next) => {
    await store.open()
    return (await handler(c, next)) as Response // `any` by its declaration
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
