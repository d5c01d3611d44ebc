import type { Handler } from 'hono'
import { BareStatusError, MessageError } from '../http/goose-errors.ts'
import { readJsonBody } from '../http/json-body.ts'
import { empty, json, jsonPieces } from '../http/respond.ts'
import { boolean, nullable, object, string } from '../json/shape.ts'
import { jsonBytes } from '../json/stringify.ts'
import { decodeDeeplink } from '../recipe/deeplink.ts'
import { SchemaError } from '../recipe/json-schema.ts'
import type { FinalOutputSchema } from '../recipe/json-schema.ts'
import type { RecipeLibrary } from '../recipe/library.ts'
import { recipe as recipeShape } from '../recipe/recipe.ts'
import type { Recipe, RecipeResponse } from '../recipe/recipe.ts'
import { UnreadableRecipeError } from '../recipe/recipe-file.ts'
import { MissingParametersError, recipeLibrary } from '../recipe/render.ts'
import type { Tasks } from '../recipe/tasks.ts'
import { TemplateError } from '../recipe/template-error.ts'
import { InvalidRecipeError } from '../recipe/validate.ts'
import type { Workshop } from '../recipe/workshop.ts'
import type { Settings } from '../settings/settings.ts'
import type { LoadedSession, SessionStore } from '../store/session-store.ts'
import { quoted } from '../text/cut.ts'
import { told } from '../told-error.ts'
import type { Agent } from './agent.ts'
import type { Agents } from './agents.ts'
import { installSession } from './recipe-install.ts'

export interface AgentHandlerParts {
  store: SessionStore
  agents: Agents
  settings: Settings
  library: RecipeLibrary
  workshop: Workshop
  /** Gives an agent the model of its session, and the extensions of the settings (GA 6.2). */
  loadModelAndExtensions: (agent: Agent, session: LoadedSession) => Promise<void>
}

interface StartRequest {
  working_dir: string
  recipe: Recipe | null
  recipe_id: string | null
  recipe_deeplink: string | null
}

const startRequest = object<StartRequest>({
  working_dir: string,
  recipe: nullable(recipeShape),
  recipe_id: nullable(string),
  recipe_deeplink: nullable(string),
})

/** `POST /agent/start` (GA 6.1). */
export function startAgent(parts: AgentHandlerParts): Handler {
  const { store, workshop } = parts
  let started = 0
  return async (c) => {
    const request = await readJsonBody(c.req.raw, startRequest)
    const { signal } = c.req.raw
    const recipe = await chosenRecipe(request, parts, signal)
    if (recipe !== null) await checkRecipe(recipe, workshop, signal)
    started++
    return json(200, await createSession(store, request.working_dir, `New session ${started}`, recipe))
  }
}

/** A link wins over an id, and an id over a recipe. */
async function chosenRecipe(
  { recipe_deeplink: link, recipe_id: id, recipe }: StartRequest,
  { library, workshop }: AgentHandlerParts,
  signal: AbortSignal,
): Promise<Recipe | null> {
  if (link !== null) {
    const linked = decodeDeeplink(link)
    if (linked === undefined) throw new MessageError(400, 'Failed to decode recipe deeplink')
    return linked
  }
  if (id === null) return recipe
  const path = await library.pathOf(id, signal)
  if (path === undefined) throw new MessageError(404, `Recipe not found: ${quoted(id)}`)
  try {
    return await workshop.do('read', { path }, signal)
  } catch (error) {
    if (!(error instanceof UnreadableRecipeError)) throw error
    throw new MessageError(500, `Failed to load recipe: ${error.message}`, { cause: error })
  }
}

async function checkRecipe(recipe: Recipe, workshop: Workshop, signal: AbortSignal): Promise<void> {
  try {
    await workshop.do('validate', { recipe }, signal)
  } catch (error) {
    if (error instanceof InvalidRecipeError) throw new MessageError(400, error.message, { cause: error })
    throw error
  }
}

async function createSession(store: SessionStore, workingDirectory: string, name: string, recipe: Recipe | null): Promise<object> {
  try {
    return await store.create({ working_dir: workingDirectory, name, session_type: 'user', recipe })
  } catch (cause) {
    throw new MessageError(400, `Failed to create session: ${told(cause)}`, { cause })
  }
}

const resumeRequest = object<{ session_id: string; load_model_and_extensions: boolean }>({
  session_id: string,
  load_model_and_extensions: boolean,
})

/** `POST /agent/resume` (GA 6.2). The answer is the session as it was before. */
export function resumeAgent({ store, agents, loadModelAndExtensions }: AgentHandlerParts): Handler {
  return async (c) => {
    const { session_id: id, load_model_and_extensions: load } = await readJsonBody(c.req.raw, resumeRequest)
    const session = await loaded(store, id)
    if (session === undefined) throw new MessageError(404, 'Failed to resume session: Session not found')
    if (load) await loadModelAndExtensions(agents.get(id), session)
    return jsonPieces(200, await jsonBytes(session))
  }
}

async function loaded(store: SessionStore, id: string): Promise<LoadedSession | undefined> {
  try {
    return await store.load(id)
  } catch (cause) {
    throw new MessageError(404, 'Failed to resume session: Session cannot be read', { cause }) // G16
  }
}

const sessionRequest = object<{ session_id: string }>({ session_id: string })

/** `POST /agent/update_from_session` (GA 6.3). */
export function updateFromSession({ store, agents, settings, workshop }: AgentHandlerParts): Handler {
  return async (c) => {
    const { session_id: id } = await readJsonBody(c.req.raw, sessionRequest)
    const own = store.own(id)
    const session = own.find()
    if (session === undefined) throw new MessageError(500, 'Failed to get session: Session not found')
    const { signal } = c.req.raw
    const given = { values: session.user_recipe_values ?? {}, library: recipeLibrary(settings.paths) }
    const recipe = session.recipe && (await renderIfComplete(workshop, { recipe: session.recipe, ...given }, signal))
    const finalOutput = recipe?.response && (await outputSchema(workshop, recipe.response, signal))
    if (own.gone.aborted) throw new MessageError(500, 'Failed to get session: Session not found')
    installSession(agents.get(id), recipe, finalOutput)
    return empty(200)
  }
}

/** The rendered recipe; null when values are missing. */
async function renderIfComplete(workshop: Workshop, given: Tasks['render']['given'], signal: AbortSignal): Promise<Recipe | null> {
  try {
    return await workshop.do('render', given, signal)
  } catch (error) {
    if (error instanceof MissingParametersError) return null
    if (error instanceof TemplateError) throw new MessageError(500, error.message, { cause: error })
    throw error
  }
}

/** What a recipe wants as its final output. Without a schema that can be followed nothing changes (G16). */
async function outputSchema(workshop: Workshop, { json_schema: schema }: RecipeResponse, signal: AbortSignal): Promise<FinalOutputSchema> {
  try {
    return await workshop.do('output', { schema }, signal)
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    throw new MessageError(500, `Invalid response schema: ${error.message}`, { cause: error })
  }
}

/** `POST /agent/update_router_tool_selector` (GA 6.6). There is no router that could change. */
export function updateRouterToolSelector({ agents }: AgentHandlerParts): Handler {
  return async (c) => {
    const { session_id: id } = await readJsonBody(c.req.raw, sessionRequest)
    if (agents.get(id).provider === null) throw new BareStatusError(500, 'the agent has no provider')
    return json(200, 'Tool selection strategy updated successfully')
  }
}

/** `POST /agent/stop` (GA 16.1). */
export function stopAgent({ agents }: AgentHandlerParts): Handler {
  return async (c) => {
    const { session_id: id } = await readJsonBody(c.req.raw, sessionRequest)
    if (!agents.stop(id)) throw new MessageError(404, `Failed to stop agent for session ${quoted(id)}: Session ${quoted(id)} not found`)
    return empty(200)
  }
}
