import type { Handler } from 'hono'
import type { Agents } from '../agent/agents.ts'
import { installRecipe } from '../agent/recipe-install.ts'
import { BareStatusError, MessageError } from '../http/goose-errors.ts'
import { readJsonBody } from '../http/json-body.ts'
import { empty, json, jsonPieces } from '../http/respond.ts'
import { documentAside } from '../json/document.ts'
import { int64, map, object, oneOf, readShape, string, withDefault } from '../json/shape.ts'
import { jsonBytes, prettyBytes, quotedBytes } from '../json/stringify.ts'
import type { Logger } from '../log.ts'
import type { Recipe } from '../recipe/recipe.ts'
import { MissingParametersError, recipeLibrary } from '../recipe/render.ts'
import type { Tasks } from '../recipe/tasks.ts'
import { TemplateError } from '../recipe/template-error.ts'
import type { Workshop } from '../recipe/workshop.ts'
import type { LargeTexts } from '../reply/large-text.ts'
import type { Settings } from '../settings/settings.ts'
import type { ListedSession, LoadedSession, SessionStore } from '../store/session-store.ts'
import { trimmed } from '../text/white-space.ts'
import { compareIds, exportedSession } from './session.ts'
import type { Session } from './session.ts'

export interface SessionParts {
  store: SessionStore
  agents: Agents
  settings: Settings
  workshop: Workshop
  logger: Logger
}

type SessionHandler = Handler<object, '/:session_id'>

/** `GET /sessions` (GA 9.2). Of sessions that were updated in the same second, the newer one is first. */
export function listSessions({ store }: SessionParts): Handler {
  return async () => {
    const shown = store
      .list()
      .filter(({ session_type: type, message_count: count }) => (type === 'user' || type === 'scheduled') && count > 0)
    return jsonPieces(200, await jsonBytes({ sessions: shown.sort(latestFirst) }))
  }
}

function latestFirst(a: ListedSession, b: ListedSession): number {
  if (a.updated_at !== b.updated_at) return a.updated_at < b.updated_at ? 1 : -1
  return compareIds(b.id, a.id)
}

/** `GET /sessions/{session_id}` (GA 9.3). */
export function getSession(parts: SessionParts): SessionHandler {
  return async (c) => jsonPieces(200, await jsonBytes(await readable(parts, c.req.param('session_id'))))
}

/** `GET /sessions/{session_id}/export` (GA 9.5): the text of the session, as a JSON string. */
export function exportSession(parts: SessionParts): SessionHandler {
  return async (c) => jsonPieces(200, await quotedBytes(await prettyBytes(await readable(parts, c.req.param('session_id')))))
}

/** The session with its messages; a 404 if there is none, or it cannot be read. */
async function readable({ store, logger }: SessionParts, id: string): Promise<LoadedSession> {
  let session: LoadedSession | undefined
  try {
    session = await store.load(id)
  } catch (err) {
    logger.warn('session not readable', { session: id, err })
  }
  if (session === undefined) throw new BareStatusError(404)
  return session
}

/** `DELETE /sessions/{session_id}` (GA 9.4), with all that works for the session (G29). */
export function deleteSession({ store, agents, largeTexts }: SessionParts & { largeTexts: LargeTexts }): SessionHandler {
  return async (c) => {
    const id = c.req.param('session_id')
    const session = store.own(id)
    if (!store.delete(id)) return empty(404)
    await agents.end(id)
    await largeTexts.remove(session)
    return empty(200)
  }
}

const importRequest = object<{ json: string }>({ json: string })

/** `POST /sessions/import` (GA 9.6). */
export function importSession({ store }: SessionParts): Handler {
  return async (c) => {
    const { json: text } = await readJsonBody(c.req.raw, importRequest)
    const session = await readExport(text)
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
    return jsonPieces(200, await jsonBytes(await store.load(id)))
  }
}

async function readExport(text: string): Promise<Session> {
  try {
    const document = await documentAside(text)
    return readShape(exportedSession, document.value, document)
  } catch (cause) {
    throw new BareStatusError(400, 'the text is no exported session', { cause })
  }
}

/** `GET /sessions/insights` (GA 9.7). */
export function getInsights({ store }: SessionParts): Handler {
  return () => {
    const sessions = store.list()
    const totalTokens = sessions.reduce((sum, one) => sum + (one.accumulated_total_tokens ?? one.total_tokens ?? 0), 0)
    return json(200, { totalSessions: sessions.length, totalTokens })
  }
}

const nameRequest = object<{ name: string }>({ name: string })
const maxNameBytes = 200

/** `PUT /sessions/{session_id}/name` (GA 9.8). An unknown session is no error. */
export function setName({ store }: SessionParts): SessionHandler {
  return async (c) => {
    const name = trimmed((await readJsonBody(c.req.raw, nameRequest)).name)
    if (name === '' || Buffer.byteLength(name) > maxNameBytes) throw new BareStatusError(400)
    store.update(c.req.param('session_id'), { name, user_set_name: true })
    return empty(200)
  }
}

const recipeValuesRequest = object<{ userRecipeValues: Record<string, string> }>({ userRecipeValues: map(string) })

/** `PUT /sessions/{session_id}/user_recipe_values` (GA 9.9). The values are kept also when a later step fails. */
export function setRecipeValues({ store, agents, settings, workshop }: SessionParts): SessionHandler {
  return async (c) => {
    const id = c.req.param('session_id')
    const { userRecipeValues } = await readJsonBody(c.req.raw, recipeValuesRequest)
    const own = store.own(id)
    own.update({ user_recipe_values: userRecipeValues })
    const session = own.find()
    if (session === undefined) throw new MessageError(500, 'Session not found')
    if (session.recipe === null) throw new MessageError(404, 'Recipe not found')
    const given = { recipe: session.recipe, values: userRecipeValues, library: recipeLibrary(settings.paths) }
    const recipe = await rendered(workshop, given, c.req.raw.signal)
    if (own.gone.aborted) throw new MessageError(500, 'Session not found')
    installRecipe(agents.get(id), recipe)
    return json(200, { recipe })
  }
}

async function rendered(workshop: Workshop, given: Tasks['render']['given'], signal: AbortSignal): Promise<Recipe> {
  try {
    return await workshop.do('render', given, signal)
  } catch (error) {
    if (error instanceof MissingParametersError) throw new MessageError(400, 'Missing required parameters', { cause: error })
    if (error instanceof TemplateError) throw new MessageError(500, error.message, { cause: error })
    throw error
  }
}

const editRequest = object<{ timestamp: number | bigint; editType: 'fork' | 'edit' }>({
  timestamp: int64,
  editType: withDefault(oneOf('fork', 'edit'), 'fork'),
})

/** `POST /sessions/{session_id}/edit_message` (GA 9.10). */
export function editMessage({ store }: SessionParts): SessionHandler {
  return async (c) => {
    const id = c.req.param('session_id')
    const { timestamp, editType } = await readJsonBody(c.req.raw, editRequest)
    const edited = editType === 'edit' ? id : await fork(store, id)
    store.cut(edited, timestamp)
    return json(200, { sessionId: edited })
  }
}

/** The id of a copy, which has neither tokens nor a provider. */
async function fork(store: SessionStore, id: string): Promise<string> {
  const original = await store.load(id)
  if (original === undefined) throw new BareStatusError(500, 'there is no such session')
  const { working_dir, session_type, extension_data, schedule_id, recipe, user_recipe_values, conversation } = original
  const copy = { name: '(edited)', working_dir, session_type, extension_data, schedule_id, recipe, user_recipe_values }
  return (await store.create(copy, conversation)).id
}
