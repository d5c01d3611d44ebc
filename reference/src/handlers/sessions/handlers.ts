import type * as contract from '#contract'
import type { Agents } from '../../engine/agent/agents.ts'
import { installRecipe } from '../../engine/agent/install-recipe.ts'
import type { ErrorsOf } from '../../httpapi/goose-errors.ts'
import { Rendered, operation, renderLarge, withBody, type Operation } from '../../httpapi/operation.ts'
import { jsonPieces } from '../../httpapi/response.ts'
import { documentInSlices } from '../../wire/json/document.ts'
import { bodyOf, int64, map, oneOf, readShape, string, withDefault } from '../../wire/json/shape.ts'
import { prettyBytes, quotedBytes } from '../../wire/json/stringify.ts'
import type { Logger } from '../../log.ts'
import type { Recipe } from '../../domain/recipe/recipe.ts'
import { MissingParametersError, recipeLibrary } from '../../domain/recipe/render.ts'
import type { Tasks } from '../../domain/recipe/recipe-tasks.ts'
import { TemplateError } from '../../domain/recipe/template-error.ts'
import type { RecipeWorker } from '../../domain/recipe/recipe-worker.ts'
import type { LargeTexts } from '../../engine/turn/large-texts.ts'
import type { Settings } from '../../settings/settings.ts'
import { compareIds, exportedSession, type ListedSession, type LoadedSession, type Session } from '../../domain/session/session.ts'
import type { SessionStore } from '../../store/session-store.ts'
import { trimmed } from '../../text/white-space.ts'

interface SessionDeps {
  store: SessionStore
  agents: Agents
  settings: Settings
  recipeWorker: RecipeWorker
  logger: Logger
}

/** `GET /sessions` (GA 9.2). Of two sessions that were updated in the same second, the newer one comes first. */
export function listSessions(
  { store }: SessionDeps,
): Operation<contract.ListSessionsData, contract.ListSessionsResponses, contract.ListSessionsErrors> {
  return operation(() => {
    const shown = store
      .list()
      .filter(({ session_type: type, message_count: count }) => (type === 'user' || type === 'scheduled') && count > 0)
    return renderLarge({ sessions: shown.sort(latestFirst) })
  })
}

function latestFirst(a: ListedSession, b: ListedSession): number {
  if (a.updated_at !== b.updated_at) return a.updated_at < b.updated_at ? 1 : -1
  return compareIds(b.id, a.id)
}

/** `GET /sessions/{session_id}` (GA 9.3). */
export function getSession(
  deps: SessionDeps,
): Operation<contract.GetSessionData, contract.GetSessionResponses, contract.GetSessionErrors> {
  return operation(async ({ path, errors }) => {
    const session = await readable(deps, path.session_id)
    if (session === undefined) throw errors.bare(404)
    return renderLarge(session)
  })
}

/** `GET /sessions/{session_id}/export` (GA 9.5): the session's text, as a JSON string. */
export function exportSession(
  deps: SessionDeps,
): Operation<contract.ExportSessionData, contract.ExportSessionResponses, contract.ExportSessionErrors> {
  return operation(async ({ path, errors }) => {
    const session = await readable(deps, path.session_id)
    if (session === undefined) throw errors.bare(404)
    const exported = await prettyBytes(session)
    return new Rendered<string>(jsonPieces(200, await quotedBytes(exported)))
  })
}

/** The session with its messages. Undefined if it does not exist or cannot be read. */
async function readable({ store, logger }: SessionDeps, id: string): Promise<LoadedSession | undefined> {
  try {
    return await store.load(id)
  } catch (err) {
    logger.warn('session not readable', { session: id, err })
    return undefined
  }
}

/** `DELETE /sessions/{session_id}` (GA 9.4). Ends all work for the session (G29). */
export function deleteSession(
  { store, agents, largeTexts }: SessionDeps & { largeTexts: LargeTexts },
): Operation<contract.DeleteSessionData, contract.DeleteSessionResponses, contract.DeleteSessionErrors> {
  return operation(async ({ path: { session_id: id }, errors }) => {
    const session = store.handle(id)
    if (!store.delete(id)) throw errors.bare(404)
    await agents.end(id)
    await largeTexts.remove(session)
    return { status: 200 }
  })
}

type ImportErrors = ErrorsOf<contract.ImportSessionErrors>

const importRequest = bodyOf<contract.ImportSessionRequest>()({ json: string })

/** `POST /sessions/import` (GA 9.6). */
export function importSession(
  { store }: SessionDeps,
): Operation<contract.ImportSessionData, contract.ImportSessionResponses, contract.ImportSessionErrors> {
  return withBody(importRequest, async ({ body, errors }) => {
    const session = await readExport(body.json, errors)
    return renderLarge(await stored(store, session, errors))
  })
}

/** Stores a copy of an exported session, and reads it back. Any failure is a 400, for example if the copy is deleted meanwhile. */
async function stored(store: SessionStore, session: Session, errors: ImportErrors): Promise<LoadedSession> {
  try {
    const { id } = await store.create(
      {
        working_dir: session.working_dir,
        name: session.name,
        user_set_name: session.user_set_name,
        session_type: session.session_type,
        extension_data: session.extension_data,
        total_tokens: session.total_tokens,
        input_tokens: session.input_tokens,
        output_tokens: session.output_tokens,
        accumulated_total_tokens: session.accumulated_total_tokens,
        accumulated_input_tokens: session.accumulated_input_tokens,
        accumulated_output_tokens: session.accumulated_output_tokens,
        schedule_id: session.schedule_id,
        recipe: session.recipe,
        user_recipe_values: session.user_recipe_values,
      },
      session.conversation ?? [],
    )
    const created = await store.load(id)
    if (created === undefined) throw new Error('the session was deleted at once')
    return created
  } catch (cause) {
    throw errors.bare(400, 'the session cannot be imported', { cause, isLogged: true })
  }
}

async function readExport(text: string, errors: ImportErrors): Promise<Session> {
  try {
    const document = await documentInSlices(text)
    return readShape(exportedSession, document.value, document)
  } catch (cause) {
    throw errors.bare(400, 'the text is no exported session', { cause })
  }
}

/** `GET /sessions/insights` (GA 9.7). */
export function getInsights(
  { store }: SessionDeps,
): Operation<contract.GetSessionInsightsData, contract.GetSessionInsightsResponses, contract.GetSessionInsightsErrors> {
  return operation(() => {
    const sessions = store.list()
    const totalTokens = sessions.reduce((sum, one) => sum + (one.accumulated_total_tokens ?? one.total_tokens ?? 0), 0)
    return { status: 200, body: { totalSessions: sessions.length, totalTokens } }
  })
}

const nameRequest = bodyOf<contract.UpdateSessionNameRequest>()({ name: string })
const maxNameBytes = 200

/** `PUT /sessions/{session_id}/name` (GA 9.8). An unknown session is not an error. */
export function setName(
  { store }: SessionDeps,
): Operation<contract.UpdateSessionNameData, contract.UpdateSessionNameResponses, contract.UpdateSessionNameErrors> {
  return withBody(nameRequest, ({ path, body, errors }) => {
    const name = trimmed(body.name)
    if (name === '' || Buffer.byteLength(name) > maxNameBytes) throw errors.bare(400)
    store.update(path.session_id, { name, user_set_name: true })
    return { status: 200 }
  })
}

const recipeValuesRequest = bodyOf<contract.UpdateSessionUserRecipeValuesRequest>()({ userRecipeValues: map(string) })

/** `PUT /sessions/{session_id}/user_recipe_values` (GA 9.9). The values are kept even if a later step fails. */
export function setRecipeValues(
  { store, agents, settings, recipeWorker }: SessionDeps,
): Operation<
  contract.UpdateSessionUserRecipeValuesData,
  contract.UpdateSessionUserRecipeValuesResponses,
  contract.UpdateSessionUserRecipeValuesErrors
> {
  return withBody(recipeValuesRequest, async ({ path: { session_id: id }, body: { userRecipeValues }, errors, request: { signal } }) => {
    const own = store.handle(id)
    own.update({ user_recipe_values: userRecipeValues })
    const session = own.find()
    if (session === undefined) throw errors.message(500, 'Session not found')
    if (session.recipe === null) throw errors.message(404, 'Recipe not found')
    const given = { recipe: session.recipe, values: userRecipeValues, library: recipeLibrary(settings.paths) }
    const recipe = await rendered(recipeWorker, given, errors, signal)
    if (own.deleted.aborted) throw errors.message(500, 'Session not found')
    installRecipe(agents.get(id), recipe)
    return { status: 200, body: { recipe } }
  })
}

async function rendered(
  recipeWorker: RecipeWorker,
  given: Tasks['render']['given'],
  errors: ErrorsOf<contract.UpdateSessionUserRecipeValuesErrors>,
  signal: AbortSignal,
): Promise<Recipe> {
  try {
    return await recipeWorker.run('render', given, signal)
  } catch (error) {
    if (error instanceof MissingParametersError) throw errors.message(400, 'Missing required parameters', { cause: error })
    if (error instanceof TemplateError) throw errors.message(500, error.message, { cause: error })
    throw error
  }
}

const editRequest = bodyOf<contract.EditMessageRequest>()({
  timestamp: int64,
  editType: withDefault<contract.EditType>(oneOf('fork', 'edit'), 'fork'),
})

/** `POST /sessions/{session_id}/edit_message` (GA 9.10). */
export function editMessage(
  { store }: SessionDeps,
): Operation<contract.EditMessageData, contract.EditMessageResponses, contract.EditMessageErrors> {
  return withBody(editRequest, async ({ path: { session_id: id }, body: { timestamp, editType }, errors }) => {
    const edited = editType === 'edit' ? id : await fork(store, id, errors)
    store.cut(edited, timestamp)
    return { status: 200, body: { sessionId: edited } }
  })
}

/** Copies a session without its tokens and provider, and returns the new id. */
async function fork(store: SessionStore, id: string, errors: ErrorsOf<contract.EditMessageErrors>): Promise<string> {
  const original = await store.load(id)
  if (original === undefined) throw errors.bare(500, 'there is no such session')
  const { working_dir, session_type, extension_data, schedule_id, recipe, user_recipe_values, conversation } = original
  const copy = { name: '(edited)', working_dir, session_type, extension_data, schedule_id, recipe, user_recipe_values }
  return (await store.create(copy, conversation)).id
}
