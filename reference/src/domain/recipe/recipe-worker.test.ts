import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { JsonDocument } from '../../wire/json/document.ts'
import { stringifyJson } from '../../wire/json/stringify.ts'
import { GooseApp } from '../../testing/goose-app.ts'
import { SchemaError } from './json-schema.ts'
import { pathId } from './path-id.ts'
import type { Recipe } from './recipe.ts'
import { TemplateError } from './template-error.ts'
import { InvalidRecipeError } from './validate.ts'
import { RecipeWorkerThread } from './recipe-worker.ts'

const bare: Recipe = { version: '1.0.0', title: 't', description: 'd', prompt: 'p' }
/** A pattern search that never ends in a backtracking engine. */
const endless = { schema: { type: 'object', properties: { s: { pattern: '^(a|a)*$' } } }, value: { s: `${'a'.repeat(60)}b` } }

function thread(limits?: ConstructorParameters<typeof RecipeWorkerThread>[0]): RecipeWorkerThread {
  const recipeWorker = new RecipeWorkerThread(limits)
  onTestFinished(() => recipeWorker.close())
  return recipeWorker
}

/** Counts turns of the event loop until a promise settles. */
async function turnsUntil(settled: Promise<unknown>): Promise<number> {
  let [turns, done] = [0, false]
  const end = (): void => {
    done = true
  }
  settled.then(end, end)
  while (!done) {
    turns++
    await new Promise((resolve) => setImmediate(resolve))
  }
  return turns
}

describe('a thread for recipes', () => {
  it('returns the unchanged result, and known errors', async () => {
    const recipeWorker = thread()
    const recipe = { ...bare, response: { json_schema: new JsonDocument('{"b":1.0,"1":{"{{ x }}":9007199254740993}}').value } }
    const given = { recipe: { ...recipe, parameters: [] }, values: {}, library: '/nonexistent' }
    await expect(recipeWorker.run('render', given)).rejects.toThrow(TemplateError)
    const parameters: Recipe['parameters'] = [{ key: 'x', input_type: 'string', requirement: 'required', description: '' }]
    const rendered = await recipeWorker.run('render', { ...given, recipe: { ...recipe, parameters }, values: { x: 'y' } })
    expect(stringifyJson(rendered.response)).toBe('{"json_schema":{"b":1.0,"1":{"y":9007199254740993}}}')
    await expect(recipeWorker.run('validate', { recipe: { ...bare, prompt: ' ' } })).rejects.toThrow(InvalidRecipeError)
    expect(await recipeWorker.run('output', { schema: { type: 'object' } })).toEqual({ schema: { type: 'object' }, shown: '{\n  "type": "object"\n}' })
  })

  it('does not block the event loop', async () => {
    const app = new GooseApp({ recipeWorker: thread() })
    await app.start({ recipe: bare })
    const text = `{% for a in "${'a'.repeat(90)}" | split("") %}{% if ${'1 == 1 and '.repeat(300)} 1 %}${'{% for b in "abcde" | split("") %}{% endfor %}'.repeat(100)}{% endif %}{% endfor %}`
    const id = await app.start({ recipe: { ...bare, prompt: text } })
    const update = app.call('POST', '/agent/update_from_session', { session_id: id })
    expect(await turnsUntil(update)).toBeGreaterThan(50)
    expect(await update).toMatchObject({ status: 200 })
  })

  it('reads files of recipes', async () => {
    const app = new GooseApp({ recipeWorker: thread() })
    const path = realpathSync(join(app.root, 'config')) + '/recipes/large.yaml'
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `title: t\ndescription: d\nprompt: p\nx: {${Array.from({ length: 20_000 }, (_, i) => `k${i}: v`).join()}}\n`)
    const start = app.call('POST', '/agent/start', { working_dir: '/w', recipe_id: pathId(path) })
    expect(await turnsUntil(start)).toBeGreaterThan(50)
    expect(await start).toMatchObject({ status: 200 })
  })

  it('ends when its client disconnects, and later work continues', async () => {
    const recipeWorker = thread()
    const gone = new AbortController()
    const left = recipeWorker.run('checkOutput', endless, gone.signal)
    const waiting = recipeWorker.run('checkOutput', endless, gone.signal)
    const next = recipeWorker.run('checkOutput', { schema: { type: 'string' }, value: 5 })
    gone.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    await expect(waiting).rejects.toThrow('gone')
    expect(await next).toEqual(['- : must be string'])
    await expect(recipeWorker.run('checkOutput', endless, gone.signal)).rejects.toThrow('gone')
  })

  it('ends when its work takes too long', async () => {
    const recipeWorker = thread({ checkOutput: 1 })
    await expect(recipeWorker.run('checkOutput', endless)).rejects.toThrow(new SchemaError('it takes too long'))
    await expect(recipeWorker.run('validate', { recipe: bare })).resolves.toBeNull()
  })

  it('ends with the server', async () => {
    const recipeWorker = thread()
    const [first, second] = [recipeWorker.run('checkOutput', endless), recipeWorker.run('checkOutput', endless)]
    const ended = Promise.allSettled([first, second])
    await recipeWorker.close()
    expect(await ended).toMatchObject([{ reason: { message: 'the server stops' } }, { reason: { message: 'the server stops' } }])
  })
})
