import type { RecipeWorker } from './domain/recipe/recipe-worker.ts'
import { RecipeLibrary } from './domain/recipe/library.ts'
import { Agent } from './engine/agent/agent.ts'
import { Agents } from './engine/agent/agents.ts'
import type { ClientTools } from './engine/client-tools/client-tools.ts'
import { Confirmations } from './engine/pending/confirmations.ts'
import { Elicitations } from './engine/pending/elicitations.ts'
import { Hooks, noHooks, type HookLists } from './engine/hooks/hooks.ts'
import { LargeTexts } from './engine/turn/large-texts.ts'
import { SessionNaming } from './engine/turn/session-naming.ts'
import { errorHandler } from './error-handler.ts'
import { clientOf } from './domain/session/session-client.ts'
import { Executions } from './handlers/client-tools/executions.ts'
import { Guards, type ClientOfSession } from './handlers/client-tools/guards.ts'
import { LeaseFiles } from './handlers/client-tools/lease-files.ts'
import { Leases } from './handlers/client-tools/leases.ts'
import { ModelCalls } from './handlers/client-tools/model-calls.ts'
import { PermissionQuestions } from './handlers/client-tools/permission-questions.ts'
import type { PermissionRules } from './handlers/client-tools/permission-rules.ts'
import { RateLimit, type RateLimitOptions } from './handlers/client-tools/rate-limit.ts'
import { Registry, defaultBounds, type RegistryBounds } from './handlers/client-tools/registry.ts'
import { Bus } from './handlers/events/bus.ts'
import { Bodies } from './httpapi/body.ts'
import { cors } from './httpapi/cors.ts'
import { requireAllowedOrigin } from './httpapi/origin.ts'
import { createRouter, type Route } from './httpapi/router.ts'
import { requireSecretKey } from './httpapi/secret-key.ts'
import { OpenStreams } from './httpapi/sse/open-streams.ts'
import { Providers } from './llm/providers.ts'
import type { Logger } from './log.ts'
import { AgentExtensions } from './mcp/agent-extensions.ts'
import { SignIns } from './mcp/oauth/sign-ins.ts'
import { Prices } from './pricing/prices.ts'
import { clientToolRoutes, gooseRoutes } from './routes.ts'
import type { Environment, Paths } from './settings/paths.ts'
import { Settings } from './settings/settings.ts'
import { SessionStore } from './store/session-store.ts'
import type { Telemetry } from './telemetry/telemetry.ts'

/** The options that change what the server does. All times are in milliseconds. */
export interface AppOptions {
  /** The directory of requests that do not name one. */
  directory: string
  defaultTimeout: number
  keepaliveInterval: number
  /** The most bytes that a request body of client tools may have. */
  maxBody: number
  /** How long a body may be slow before the minimum rate applies (S41). */
  bodyGrace?: number
  /** The limits on what clients may register (S39). */
  clientTools?: RegistryBounds
  /** Which client tools may run without a question (CT 9.3). */
  permission?: PermissionRules
  rateLimit?: RateLimitOptions
  /** What runs before and after calls of tools (CT 14.6). */
  hooks?: HookLists
  /** The origins of pages that may use the client tools; `*` for all (CT 15.1). */
  allowedOrigins: readonly string[]
  /** A name of this machine (CT 15.2). */
  hostName?: string | undefined
  /** The key that clients send to use the goose server (GA 2.2). */
  secretKey: string
  /** Where the goose server keeps its files. */
  paths: Paths
  /** Environment variables, which override the settings in the file (GA 1.4). */
  environment: Environment
  /** How many agents are kept in memory (GA 6). */
  maxActiveAgents: number
  /** The command that started this program. It starts the built-in extensions too (GA 1.1). */
  ownCommand?: readonly string[]
  /** Undefined if nothing is exported. */
  telemetry?: Telemetry | undefined
  /** Prints a line for the user, which is not for the log (X53). */
  print: (line: string) => void
  /** Runs recipe tasks. The app closes it when it stops. */
  recipeWorker: RecipeWorker
}

/** The server without a port: a function from Request to Response, with its state. */
export interface App {
  /** Rejects with the reason of the request's signal if the client disconnects first. */
  fetch: (request: Request) => Promise<Response>
  /** Fails all pending calls, publishes `server.instance.disposed` and ends all streams, in the order of S19. */
  stop: () => Promise<void>
  /** Resolves when the agents of replies that outlived `stop` are closed as well. */
  ended: () => Promise<void>
}

export function createApp(options: AppOptions, logger: Logger): App {
  const { clientTools = defaultBounds, directory } = options
  const bus = new Bus()
  const streams = new OpenStreams(logger)
  const registry = new Registry(clientTools)
  const leases = new Leases({ bus, registry, logger, files: new LeaseFiles(options.paths.data, logger) })
  leases.restore()
  const executions = new Executions(bus, (clientID) => leases.isAway(clientID))
  const questions = new PermissionQuestions(bus)
  const store = new SessionStore(options.paths.data, logger)
  const rateLimit = new RateLimit(options.rateLimit)
  const { permission = 'allow' } = options
  const hooks = new Hooks(options.hooks ?? noHooks, options.environment, logger)
  const guards = new Guards({ registry, questions, rateLimit, permission, logger, clientOfSession: clientOfSession(store) })
  const state = { bus, registry, leases, executions, questions, guards, hooks, streams }
  const clientToolDeps = { ...options, ...state, logger, maxTools: clientTools.maxTools, defaultDirectory: directory }
  const modelCalls = new ModelCalls({ registry, executions, guards, directory, timeout: options.defaultTimeout })
  const prices = new Prices(options.environment, logger)
  const goose = gooseServer(options, { store, executions, hooks, prices, clientTools: modelCalls }, logger)
  const routes = observed([...clientToolRoutes(clientToolDeps), ...goose.routes], options.telemetry)
  const router = createRouter(routes, [requireAllowedOrigin(options), cors, requireSecretKey(options.secretKey)], errorHandler(logger))
  const bodies = new Bodies(options.bodyGrace)
  return {
    fetch: (request) => bodies.admit(request, () => router.fetch(request)),
    stop: async () => {
      executions.stop()
      questions.stop()
      hooks.stop()
      leases.stop()
      prices.stop()
      for (const directory of streams.directories()) {
        bus.publish(directory, { type: 'server.instance.disposed', properties: { directory } })
      }
      await streams.endAll()
      await goose.stop()
    },
    ended: goose.ended,
  }
}

/** The goose server: its routes, and how to stop it. */
function gooseServer(
  { paths, environment, directory, secretKey, recipeWorker, ownCommand = [], maxActiveAgents, maxBody, print, telemetry }: AppOptions,
  { store, executions, hooks, prices, clientTools }: { store: SessionStore; executions: Executions; hooks: Hooks; prices: Prices; clientTools: ClientTools },
  logger: Logger,
): { routes: Route[]; stop: () => Promise<void>; ended: () => Promise<void> } {
  const settings = new Settings(paths, environment, logger)
  const signIns = new SignIns({ settings, environment, directory, logger, print })
  const launch = { settings, store, environment, directory, ownCommand, logger, signIns }
  const makeAgent = (id: string, onIdle: () => void): Agent => {
    const session = store.handle(id)
    return new Agent(session, new AgentExtensions(session, launch), onIdle)
  }
  const agents = new Agents(maxActiveAgents, makeAgent, logger)
  store.onCreated = (id) => void agents.end(id) // drops an agent that was made before its session existed (G30)
  const naming = new SessionNaming(logger, telemetry)
  const routes = gooseRoutes({
    paths,
    secretKey,
    directory,
    settings,
    store,
    agents,
    naming,
    recipeWorker,
    clientTools,
    executions,
    hooks,
    maxBody,
    logger,
    telemetry,
    library: new RecipeLibrary(settings, directory, recipeWorker),
    prices,
    providers: new Providers(settings, logger, telemetry),
    largeTexts: new LargeTexts(settings),
    confirmations: new Confirmations(),
    elicitations: new Elicitations(),
  })
  return {
    routes: routes.map(({ handler, ...route }) => ({ ...route, handler: whenOpen(store, settings, handler) })),
    stop: async () => {
      signIns.stop()
      await naming.stop()
      await agents.stopAll()
      await recipeWorker.close()
      settings.close()
    },
    ended: () => agents.closed(),
  }
}

function clientOfSession(store: SessionStore): ClientOfSession {
  return async (id) => {
    await store.open()
    const session = store.find(id)
    return session && clientOf(session)
  }
}

/** Routes that name themselves to the telemetry, by their paths in the contract (T14). */
function observed(routes: Route[], telemetry: Telemetry | undefined): Route[] {
  if (telemetry === undefined) return routes
  return routes.map(({ method, path, handler }) => {
    const named = path.replace(/:(\w+)/g, '{$1}')
    const observe: Route['handler'] = (c) => {
      telemetry.route(named)
      return handler(c)
    }
    return { method, path, handler: observe }
  })
}

/** A handler that waits for the store and the settings. The first request waits until all logs are read. */
function whenOpen(store: SessionStore, settings: Settings, handler: Route['handler']): Route['handler'] {
  return async (c) => {
    await store.open()
    await settings.prepare()
    return handler(c)
  }
}
