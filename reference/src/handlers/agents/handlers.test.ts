import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { encodeDeeplink } from '../../testing/recipes.ts'
import { pathId } from '../../domain/recipe/path-id.ts'
import type { RecipeWorker } from '../../domain/recipe/recipe-worker.ts'
import { GooseApp } from '../../testing/goose-app.ts'

const recipe = { title: 'Greet', description: 'Greets', instructions: 'Greet them' }
const bodyRoutes = ['start', 'resume', 'update_from_session', 'update_router_tool_selector', 'stop'].map((name) => `/agent/${name}`)

function json(text: string): unknown {
  return JSON.parse(text)
}

describe('every operation with a body (GA 2.5)', () => {
  it.each([...bodyRoutes.map((path) => ['POST', path]), ['POST', '/sessions/import'], ['PUT', '/sessions/x/name'], ['PUT', '/sessions/x/user_recipe_values'], ['POST', '/sessions/x/edit_message']] as [string, string][])(
    '%s %s refuses bodies',
    async (method, path) => {
      const app = new GooseApp()
      expect(await app.send(method, path, '{}', {})).toMatchObject({ status: 415 })
      expect(await app.send(method, path, ' '.repeat(2_097_153))).toMatchObject({ status: 413 })
      expect(await app.send(method, path, '{')).toMatchObject({ status: 400 })
      const missing = await app.send(method, path, '{}')
      expect(missing.status).toBe(422)
      expect(missing.text).toMatch(/^Failed to deserialize the JSON body into the target type: missing field `\w+` at line 1 column 2$/)
      expect(missing.headers.get('Content-Type')).toBe('text/plain; charset=utf-8')
      expect(await app.fetch(path, { method: 'PATCH' })).toMatchObject({ status: 405, text: '' })
      expect(await app.send(method, path, '{}', { 'Content-Type': 'application/json', 'X-Secret-Key': '' })).toMatchObject({ status: 401 })
    },
  )
})

describe('POST /agent/start (GA 6.1)', () => {
  it('creates a session, and counts those since the start of the process', async () => {
    const app = new GooseApp()
    const first = await app.call('POST', '/agent/start', { working_dir: '/does/../not exist' })
    expect(first.status).toBe(200)
    expect(json(first.text)).toMatchObject({
      name: 'New session 1', session_type: 'user', working_dir: '/does/../not exist', conversation: null, message_count: 0, recipe: null,
    })
    const second = await app.call('POST', '/agent/start', { working_dir: '', recipe: null, recipe_id: null, recipe_deeplink: null })
    expect(json(second.text)).toMatchObject({ name: 'New session 2' })
    await app.call('POST', '/agent/start', { working_dir: '', recipe_id: 'none' })
    const again = app.restarted()
    expect(json((await again.call('POST', '/agent/start', { working_dir: '' })).text)).toMatchObject({ name: 'New session 1' })
    expect(json((await app.get('/sessions')).text)).toEqual({ sessions: [] })
  })

  it('never gives two sessions the same id', async () => {
    const app = new GooseApp()
    const ids = await Promise.all(Array.from({ length: 20 }, () => app.start()))
    expect(new Set(ids).size).toBe(20)
  })

  it('keeps the client of a session, over a restart, an export and a fork (CT 11.6)', async () => {
    const app = new GooseApp()
    const id = await app.start({ clientID: 'c' })
    const kept = { extension_data: { 'client_tools.v0': { clientID: 'c' } } }
    const again = app.restarted()
    expect(json((await again.get(`/sessions/${id}`)).text)).toMatchObject(kept)
    const exported = json((await again.get(`/sessions/${id}/export`)).text)
    const copy = await new GooseApp().call('POST', '/sessions/import', { json: exported })
    expect(json(copy.text)).toMatchObject(kept)
    const fork = json((await again.call('POST', `/sessions/${id}/edit_message`, { timestamp: 0 })).text) as { sessionId: string }
    expect(json((await again.get(`/sessions/${fork.sessionId}`)).text)).toMatchObject(kept)
    expect(json((await app.call('POST', '/agent/start', { working_dir: '' })).text)).toMatchObject({ extension_data: {} })
  })

  it.each([
    ['null', 'invalid type: null, expected a string'],
    ['5', 'invalid type: number, expected a string'],
    ['""', 'invalid value: empty string'],
  ])('refuses the client %s (S72)', async (clientID, reason) => {
    const body = `{"clientID":${clientID},"working_dir":""}`
    expect(await new GooseApp().send('POST', '/agent/start', body)).toMatchObject({
      status: 422,
      text: `Failed to deserialize the JSON body into the target type: clientID: ${reason} at line 1 column ${12 + clientID.length}`,
    })
  })

  it('stores the recipe unchanged', async () => {
    const app = new GooseApp()
    const parameters = [{ key: 'name', input_type: 'string', requirement: 'optional', description: '', default: 'Ann' }]
    const started = await app.call('POST', '/agent/start', { working_dir: '', recipe: { ...recipe, prompt: '{{ name }}', parameters } })
    expect(json(started.text)).toMatchObject({ recipe: { version: '1.0.0', ...recipe, prompt: '{{ name }}', parameters } })
  })

  it('prefers a link to an id, and an id to a recipe', async () => {
    const app = new GooseApp()
    const directory = join(app.root, 'config/recipes')
    mkdirSync(directory, { recursive: true })
    const path = join(directory, 'demo.yaml')
    writeFileSync(path, 'recipe:\n  title: File\n  description: d\n  prompt: p\n')
    const body = { working_dir: '', recipe_id: pathId(path), recipe_deeplink: encodeDeeplink({ version: '1', ...recipe, title: 'Link' }), recipe }
    const title = async (without: string[]): Promise<unknown> => {
      const given = Object.fromEntries(Object.entries(body).filter(([key]) => !without.includes(key)))
      return json((await app.call('POST', '/agent/start', given)).text)
    }
    expect(await title([])).toMatchObject({ recipe: { title: 'Link' } })
    expect(await title(['recipe_deeplink'])).toMatchObject({ recipe: { title: 'File' } })
    expect(await title(['recipe_deeplink', 'recipe_id'])).toMatchObject({ recipe: { title: 'Greet' } })
    writeFileSync(path, 'title: [')
    expect(await app.call('POST', '/agent/start', { working_dir: '', recipe_id: pathId(path) })).toMatchObject({
      status: 500, text: expect.stringMatching(/^\{"message":"Failed to load recipe: /) as string,
    })
  })

  it.each([
    [{ recipe_deeplink: '' }, 400, 'Failed to decode recipe deeplink'],
    [{ recipe_deeplink: 'bm9wZQ' }, 400, 'Failed to decode recipe deeplink'],
    [{ recipe_id: '0123456789abcdef' }, 404, 'Recipe not found: 0123456789abcdef'],
    [{ recipe_id: '../x' }, 404, 'Recipe not found: ../x'],
    [{ recipe: { title: '', description: '', prompt: ' ' } }, 400, 'Recipe must specify at least one of `instructions` or `prompt`.'],
    [{ recipe: { ...recipe, prompt: '{{b}} {{ a }}' } }, 400, 'Missing definitions for parameters in the recipe file: a, b.'],
  ])('rejects %j with %i', async (body, status, message) => {
    const app = new GooseApp()
    expect(await app.call('POST', '/agent/start', { working_dir: '', ...body })).toMatchObject({ status, text: JSON.stringify({ message }) })
    expect(json((await app.get('/sessions/insights')).text)).toMatchObject({ totalSessions: 0 })
  })

  it.each([
    [{ recipe: { title: 't' } }, 'recipe: missing field `description` at line 1 column 40'],
    [{ recipe: { ...recipe, retry: { max_retries: 0, checks: [] } } }, 'recipe.retry.max_retries: invalid value: integer out of range'],
    [{ recipe: { ...recipe, version: null } }, 'recipe.version: invalid type: null, expected a string'],
    [{ recipe: { ...recipe, extensions: [{ type: 'magic' }] } }, 'recipe.extensions[0].type: unknown variant `magic`, expected one of `sse`, `stdio`'],
    [{ recipe_id: 5 }, 'recipe_id: invalid type: number, expected a string'],
  ])('rejects the shape of %j', async (body, reason) => {
    const { status, text } = await new GooseApp().call('POST', '/agent/start', { working_dir: '', ...body })
    expect([status, text]).toEqual([422, expect.stringContaining(`target type: ${reason}`)])
  })

  it('is a 400 when the session cannot be stored', async () => {
    const app = new GooseApp()
    writeFileSync(join(app.root, 'data/sessions'), '')
    expect(await app.call('POST', '/agent/start', { working_dir: '' })).toMatchObject({
      status: 400, text: '{"message":"Failed to create session: Session cannot be written"}',
    })
    const err = { cause: { cause: { code: expect.any(String) as string } } }
    expect(app.logs.at(-1)).toMatchObject({ message: 'request failed', fields: { err } }) // G26
  })
})

describe('POST /agent/resume (GA 6.2)', () => {
  it('returns the session with its messages', async () => {
    const app = new GooseApp()
    const id = await app.start()
    const resumed = await app.call('POST', '/agent/resume', { session_id: id, load_model_and_extensions: false })
    expect(resumed.text).toBe((await app.get(`/sessions/${id}`)).text)
    expect(json(resumed.text)).toMatchObject({ id, conversation: [] })
  })

  it.each(['', 'nope', '../x', '__proto__'])('is a 404 for %j', async (id) => {
    for (const load_model_and_extensions of [true, false]) {
      expect(await new GooseApp().call('POST', '/agent/resume', { session_id: id, load_model_and_extensions })).toMatchObject({
        status: 404, text: '{"message":"Failed to resume session: Session not found"}',
      })
    }
  })
})

describe('POST /agent/update_from_session (GA 6.3)', () => {
  const update = (app: GooseApp, id: string): ReturnType<GooseApp['call']> => app.call('POST', '/agent/update_from_session', { session_id: id })
  const tools = async (app: GooseApp, id: string): Promise<string[]> =>
    (json((await app.get(`/agent/tools?session_id=${id}`)).text) as { name: string }[]).map(({ name }) => name)

  it('installs the sub-recipes and the final output of the recipe', async () => {
    const app = new GooseApp()
    mkdirSync(join(app.root, 'config/recipes'), { recursive: true })
    writeFileSync(join(app.root, 'config/recipes/sub.yaml'), '')
    const id = await app.start({
      recipe: { ...recipe, sub_recipes: [{ name: 'sub', path: 'sub.yaml' }], response: { json_schema: { type: 'object', properties: { a: {} } } } },
    })
    expect(await update(app, id)).toMatchObject({ status: 200, text: '' })
    expect(await tools(app, id)).toEqual([
      'dynamic_task__create_task', 'platform__manage_schedule', 'recipe__final_output', 'subagent__execute_task', 'subrecipe__create_task_sub',
    ])
    expect(await tools(app, 'another')).toHaveLength(3)
  })

  it('removes everything of an earlier recipe when values are missing (G31)', async () => {
    const app = new GooseApp()
    mkdirSync(join(app.root, 'config/recipes'), { recursive: true })
    writeFileSync(join(app.root, 'config/recipes/sub.yaml'), '')
    const parameters = [{ key: 'x', input_type: 'string', requirement: 'required', description: '' }]
    const id = await app.start({
      recipe: { ...recipe, parameters, sub_recipes: [{ name: 'sub {{ x }}', path: 'sub.yaml' }], response: { json_schema: { type: 'object' } } },
    })
    const values = (given: object): ReturnType<GooseApp['call']> => app.call('PUT', `/sessions/${id}/user_recipe_values`, { userRecipeValues: given })
    await values({ x: 'a' })
    await update(app, id)
    expect(await tools(app, id)).toMatchObject({ length: 5, 4: 'subrecipe__create_task_sub a' })
    await values({ x: 'b' })
    expect(await tools(app, id)).toMatchObject({ length: 5, 2: 'recipe__final_output', 4: 'subrecipe__create_task_sub b' })
    await values({})
    await update(app, id)
    expect(await tools(app, id)).toHaveLength(3)
  })

  it('accepts a session without a recipe, with missing values, and without a response', async () => {
    const app = new GooseApp()
    const parameters = [{ key: 'x', input_type: 'string', requirement: 'user_prompt', description: '' }]
    const recipes = [{ prompt: '{{x}}', parameters }, { response: null }]
    for (const body of [{}, ...recipes.map((more) => ({ recipe: { ...recipe, ...more } }))]) {
      const id = await app.start(body)
      expect(await update(app, id)).toMatchObject({ status: 200, text: '' })
      expect(await tools(app, id)).toHaveLength(3)
    }
  })

  it('is a 500 without a valid schema, and does not change the agent (G16)', async () => {
    const app = new GooseApp()
    for (const response of [{}, { json_schema: null }, { json_schema: {} }, { json_schema: true }]) {
      const id = await app.start({ recipe: { ...recipe, response } })
      expect(await update(app, id)).toMatchObject({ status: 500, text: '{"message":"Invalid response schema: the schema of the output is missing"}' })
      expect(await tools(app, id)).toHaveLength(3)
    }
  })

  it('is a 500 when the recipe cannot be rendered, or the session is unknown', async () => {
    const app = new GooseApp()
    const id = await app.start({ recipe: { ...recipe, sub_recipes: [{ name: 'sub', path: '/none.yaml' }] } })
    expect(await update(app, id)).toMatchObject({ status: 500, text: '{"message":"Recipe parsing failed: Sub-recipe file does not exist: /none.yaml"}' })
    expect(await update(app, 'nope')).toMatchObject({ status: 500, text: '{"message":"Failed to get session: Session not found"}' })
  })
})

describe('rendering a recipe when the client has disconnected (G22)', () => {
  it.each(['/agent/start', '/agent/update_from_session', '/user_recipe_values'])('is cancelled: %s', async (path) => {
    let begun = (): void => undefined
    const working = new Promise<void>((resolve) => (begun = resolve))
    const endless: RecipeWorker = {
      run: (_name, _given, signal) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => {
            reject(signal.reason as Error)
          })
          begun()
        }),
      close: () => Promise.resolve(),
    }
    const app = new GooseApp({ recipeWorker: endless })
    const imported = { id: 'x', working_dir: '/w', name: 'n', created_at: '2025-12-10T16:59:31Z', updated_at: '2025-12-10T16:59:31Z', extension_data: {}, message_count: 0, recipe }
    const { text } = await app.call('POST', '/sessions/import', { json: JSON.stringify(imported) })
    const session_id = (json(text) as { id: string }).id
    const gone = new AbortController()
    const [method, target] = path.startsWith('/agent') ? ['POST', path] : ['PUT', `/sessions/${session_id}${path}`]
    const body = JSON.stringify({ session_id, working_dir: '/w', recipe, userRecipeValues: {} })
    const answer = app.fetch(target, { method, body, headers: { 'Content-Type': 'application/json' }, signal: gone.signal })
    await working
    gone.abort(new Error('gone'))
    await expect(answer).rejects.toThrow('gone')
  })
})

describe('GET /agent/tools (GA 6.4)', () => {
  const standard = [
    { name: 'dynamic_task__create_task', parameters: ['task_parameters'], permission: null },
    {
      name: 'platform__manage_schedule', permission: null,
      parameters: ['action', 'job_id', 'recipe_path', 'cron_expression', 'limit', 'session_id'],
    },
    { name: 'subagent__execute_task', parameters: ['task_ids', 'execution_mode'], permission: null },
  ]

  it('lists the tools of the engine, also for unknown sessions', async () => {
    const app = new GooseApp()
    for (const id of ['x', '', '..%2F', '%FF']) {
      const { status, text } = await app.get(`/agent/tools?session_id=${id}`)
      expect([status, json(text)]).toMatchObject([200, standard])
    }
  })

  it.each([
    ['platform', ['dynamic_task__create_task', 'platform__manage_schedule']],
    ['subagent', []],
    ['', []],
    ['Platform', []],
  ])('of the extension %j', async (name, names) => {
    const { text } = await new GooseApp().get(`/agent/tools?session_id=x&extension_name=${name}`)
    expect((json(text) as { name: string }[]).map((tool) => tool.name)).toEqual(names)
  })

  it.each([
    ['', 'missing field `session_id`'],
    ['?extension_name=x', 'missing field `session_id`'],
    ['?session_id=a&session_id=b', 'duplicate field `session_id`'],
    ['?session_id=a&extension_name=&extension_name=', 'duplicate field `extension_name`'],
  ])('rejects the query %j', async (query, reason) => {
    const { status, headers, text } = await new GooseApp().get(`/agent/tools${query}`)
    expect([status, headers.get('Content-Type'), text]).toEqual([
      400, 'text/plain; charset=utf-8', `Failed to deserialize query string: ${reason}`,
    ])
  })

  it('shows the permissions from the mode and the file', async () => {
    const permissions = async (app: GooseApp): Promise<unknown[]> =>
      (json((await app.get('/agent/tools?session_id=x')).text) as { permission: unknown }[]).map(({ permission }) => permission)
    const app = new GooseApp()
    expect(await permissions(app)).toEqual([null, null, null])
    const file = join(app.root, 'config/permission.yaml')
    writeFileSync(file, 'user: {always_allow: [subagent__execute_task], ask_before: [], never_allow: []}\nsmart_approve: {always_allow: [], ask_before: [], never_allow: [platform__manage_schedule]}\n')
    expect(await permissions(app)).toEqual([null, null, 'always_allow'])
    expect(await permissions(app.restarted({ environment: { GOOSE_MODE: 'approve' } }))).toEqual(['ask_before', 'ask_before', 'always_allow'])
    writeFileSync(join(app.root, 'config/config.yaml'), 'GOOSE_MODE: smart_approve\n')
    expect(await permissions(app)).toEqual([null, 'never_allow', 'always_allow'])
    writeFileSync(file, 'nonsense')
    expect(await permissions(app)).toEqual([null, null, null])
  })
})

describe('POST /agent/update_router_tool_selector (GA 6.6)', () => {
  it('needs a provider', async () => {
    const answer = await new GooseApp().call('POST', '/agent/update_router_tool_selector', { session_id: 'x' })
    expect(answer).toMatchObject({ status: 500, text: '' })
  })
})

describe('POST /agent/stop (GA 16.1)', () => {
  it('drops the agent, and is a 404 when there is no agent', async () => {
    const app = new GooseApp()
    const stop = (): ReturnType<GooseApp['call']> => app.call('POST', '/agent/stop', { session_id: 's' })
    const none = { status: 404, text: '{"message":"Failed to stop agent for session s: Session s not found"}' }
    expect(await stop()).toMatchObject(none)
    await app.get('/agent/tools?session_id=s')
    expect(await stop()).toMatchObject({ status: 200, text: '' })
    expect(await stop()).toMatchObject(none)
  })

  it('does not find an agent that was dropped to make room', async () => {
    const app = new GooseApp({ maxActiveAgents: 2 })
    for (const id of ['a', 'b', 'a', 'c']) await app.get(`/agent/tools?session_id=${id}`)
    const statuses = []
    for (const id of ['a', 'b', 'c']) statuses.push((await app.call('POST', '/agent/stop', { session_id: id })).status)
    expect(statuses).toEqual([200, 404, 200])
  })
})
