import type * as contract from '#contract'
import type { ErrorsOf } from '../../httpapi/goose-errors.ts'
import { renderLarge, withBody, type Operation } from '../../httpapi/operation.ts'
import { bodyOf, boolean, notEmpty, nullable, string, withDefault, type ReadBy } from '../../wire/json/shape.ts'
import { decodeDeeplink } from '../../domain/recipe/deeplink.ts'
import { SchemaError, type FinalOutputSchema } from '../../domain/recipe/json-schema.ts'
import type { RecipeLibrary } from '../../domain/recipe/library.ts'
import { recipe as recipeShape, type Recipe, type RecipeResponse } from '../../domain/recipe/recipe.ts'
import { UnreadableRecipeError } from '../../domain/recipe/recipe-file.ts'
import { MissingParametersError, recipeLibrary } from '../../domain/recipe/render.ts'
import type { Tasks } from '../../domain/recipe/recipe-tasks.ts'
import { TemplateError } from '../../domain/recipe/template-error.ts'
import { InvalidRecipeError } from '../../domain/recipe/validate.ts'
import type { RecipeWorker } from '../../domain/recipe/recipe-worker.ts'
import type { ListedSession, LoadedSession } from '../../domain/session/session.ts'
import { clientData } from '../../domain/session/session-client.ts'
import type { NewSession, SessionStore } from '../../store/session-store.ts'
import { quoted } from '../../text/truncate.ts'
import { clientMessage } from '../../public-error.ts'
import { installSession } from '../../engine/agent/install-recipe.ts'
import type { ReplyServices } from '../../engine/turn/reply-services.ts'
import { addConfigured } from './extensions.ts'
import { resumeProvider, type ResumeErrors } from './provider.ts'

export interface AgentDeps extends ReplyServices {
  library: RecipeLibrary
}

type StartErrors = ErrorsOf<contract.StartAgentErrors>
type UpdateErrors = ErrorsOf<contract.UpdateFromSessionErrors>

const startRequest = bodyOf<contract.StartAgentRequest>()({
  working_dir: string,
  recipe: nullable(recipeShape),
  recipe_id: nullable(string),
  recipe_deeplink: nullable(string),
  clientID: withDefault(notEmpty, ''), // empty if the session has no client
})

/** `POST /agent/start` (GA 6.1). */
export function startAgent(
  deps: AgentDeps,
): Operation<contract.StartAgentData, contract.StartAgentResponses, contract.StartAgentErrors> {
  const { store, recipeWorker } = deps
  let started = 0
  return withBody(startRequest, async ({ body, errors, request: { signal } }) => {
    const recipe = await chosenRecipe(body, deps, errors, signal)
    if (recipe !== null) await checkRecipe(recipe, recipeWorker, errors, signal)
    started++
    const session = { working_dir: body.working_dir, name: `New session ${started}`, session_type: 'user', recipe } as const
    const client = body.clientID === '' ? {} : { extension_data: clientData(body.clientID) }
    return { status: 200, body: await createSession(store, { ...session, ...client }, errors) }
  })
}

/** A link takes precedence over an id, and an id over a recipe. */
async function chosenRecipe(
  { recipe_deeplink: link, recipe_id: id, recipe }: ReadBy<typeof startRequest>,
  { library, recipeWorker }: AgentDeps,
  errors: StartErrors,
  signal: AbortSignal,
): Promise<Recipe | null> {
  if (link !== null) {
    const linked = decodeDeeplink(link)
    if (linked === undefined) throw errors.message(400, 'Failed to decode recipe deeplink')
    return linked
  }
  if (id === null) return recipe
  const path = await library.pathOf(id, signal)
  if (path === undefined) throw errors.message(404, `Recipe not found: ${quoted(id)}`)
  try {
    return await recipeWorker.run('read', { path }, signal)
  } catch (error) {
    if (!(error instanceof UnreadableRecipeError)) throw error
    throw errors.message(500, `Failed to load recipe: ${error.message}`, { cause: error })
  }
}

async function checkRecipe(recipe: Recipe, recipeWorker: RecipeWorker, errors: StartErrors, signal: AbortSignal): Promise<void> {
  try {
    await recipeWorker.run('validate', { recipe }, signal)
  } catch (error) {
    if (error instanceof InvalidRecipeError) throw errors.message(400, error.message, { cause: error })
    throw error
  }
}

async function createSession(store: SessionStore, session: NewSession, errors: StartErrors): Promise<ListedSession> {
  try {
    return await store.create(session)
  } catch (cause) {
    throw errors.message(400, `Failed to create session: ${clientMessage(cause)}`, { cause, isLogged: true })
  }
}

const resumeRequest = bodyOf<contract.ResumeAgentRequest>()({
  session_id: string,
  load_model_and_extensions: boolean,
})

/** `POST /agent/resume` (GA 6.2). The response is the session before the operation. */
export function resumeAgent(
  deps: AgentDeps,
): Operation<contract.ResumeAgentData, contract.ResumeAgentResponses, contract.ResumeAgentErrors> {
  return withBody(resumeRequest, async ({ body: { session_id: id, load_model_and_extensions: load }, errors, request: { signal } }) => {
    const session = await loaded(deps.store, id, errors)
    if (session === undefined) throw errors.message(404, 'Failed to resume session: Session not found')
    if (load) await loadModelAndExtensions(deps, session, errors, signal)
    return renderLarge(session)
  })
}

/** Gives the agent of a session the session's model, and the extensions of the settings. */
async function loadModelAndExtensions(deps: AgentDeps, session: LoadedSession, errors: ResumeErrors, signal: AbortSignal): Promise<void> {
  const agent = deps.agents.get(session.id)
  const release = agent.use()
  try {
    const added = addConfigured(agent.extensions, deps, signal)
    await Promise.all([resumeProvider(deps, agent, session, errors), added]).finally(() => added)
  } finally {
    release()
  }
}

async function loaded(store: SessionStore, id: string, errors: ResumeErrors): Promise<LoadedSession | undefined> {
  try {
    return await store.load(id)
  } catch (cause) {
    throw errors.message(404, 'Failed to resume session: Session cannot be read', { cause, isLogged: true }) // G16
  }
}

/** `POST /agent/update_from_session` (GA 6.3). */
export function updateFromSession(
  { store, agents, settings, recipeWorker }: AgentDeps,
): Operation<contract.UpdateFromSessionData, contract.UpdateFromSessionResponses, contract.UpdateFromSessionErrors> {
  const updateRequest = bodyOf<contract.UpdateFromSessionRequest>()({ session_id: string })
  return withBody(updateRequest, async ({ body: { session_id: id }, errors, request: { signal } }) => {
    const own = store.handle(id)
    const session = own.find()
    if (session === undefined) throw errors.message(500, 'Failed to get session: Session not found')
    const given = { values: session.user_recipe_values ?? {}, library: recipeLibrary(settings.paths) }
    const recipe = session.recipe && (await renderIfComplete(recipeWorker, { recipe: session.recipe, ...given }, errors, signal))
    const finalOutput = recipe?.response && (await outputSchema(recipeWorker, recipe.response, errors, signal))
    if (own.deleted.aborted) throw errors.message(500, 'Failed to get session: Session not found')
    installSession(agents.get(id), recipe, finalOutput)
    return { status: 200 }
  })
}

/** The rendered recipe, or null if values are missing. */
async function renderIfComplete(
  recipeWorker: RecipeWorker,
  given: Tasks['render']['given'],
  errors: UpdateErrors,
  signal: AbortSignal,
): Promise<Recipe | null> {
  try {
    return await recipeWorker.run('render', given, signal)
  } catch (error) {
    if (error instanceof MissingParametersError) return null
    if (error instanceof TemplateError) throw errors.message(500, error.message, { cause: error })
    throw error
  }
}

/** The final output that a recipe requires. An invalid schema is an error, and then nothing changes (G16). */
async function outputSchema(
  recipeWorker: RecipeWorker,
  { json_schema: schema }: RecipeResponse,
  errors: UpdateErrors,
  signal: AbortSignal,
): Promise<FinalOutputSchema> {
  try {
    return await recipeWorker.run('output', { schema }, signal)
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    throw errors.message(500, `Invalid response schema: ${error.message}`, { cause: error })
  }
}

/** `POST /agent/update_router_tool_selector` (GA 6.6). This server has no tool router, so nothing changes. */
export function updateRouterToolSelector(
  { agents }: AgentDeps,
): Operation<
  contract.UpdateRouterToolSelectorData,
  contract.UpdateRouterToolSelectorResponses,
  contract.UpdateRouterToolSelectorErrors
> {
  const updateRequest = bodyOf<contract.UpdateRouterToolSelectorRequest>()({ session_id: string })
  return withBody(updateRequest, ({ body: { session_id: id }, errors }) => {
    if (agents.get(id).provider === null) throw errors.bare(500, 'the agent has no provider')
    return { status: 200, body: 'Tool selection strategy updated successfully' }
  })
}

/** `POST /agent/stop` (GA 16.1). */
export function stopAgent(
  { agents }: AgentDeps,
): Operation<contract.StopAgentData, contract.StopAgentResponses, contract.StopAgentErrors> {
  return withBody(bodyOf<contract.StopAgentRequest>()({ session_id: string }), ({ body: { session_id: id }, errors }) => {
    if (!agents.stop(id)) throw errors.message(404, `Failed to stop agent for session ${quoted(id)}: Session ${quoted(id)} not found`)
    return { status: 200 }
  })
}
