import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GooseApp } from '../../testing/goose-app.ts'

describe('POST /config/permissions (GA 10.12)', () => {
  const set = (app: GooseApp, ...changes: [string, string][]): Promise<{ status: number; text: string }> =>
    app.call('POST', '/config/permissions', { tool_permissions: changes.map(([name, permission]) => ({ tool_name: name, permission })) })

  it('stores the levels, which the list of tools shows', async () => {
    const app = new GooseApp()
    expect(await set(app, ['subagent__execute_task', 'ask_before'], ['subagent__execute_task', 'never_allow'])).toMatchObject({
      status: 200, text: '"Permissions updated successfully"',
    })
    const tools = JSON.parse((await app.get('/agent/tools?session_id=x')).text) as { permission: string }[]
    expect(tools.map(({ permission }) => permission)).toEqual([null, null, 'never_allow'])
  })

  it('stores all or nothing', async () => {
    const app = new GooseApp()
    await set(app, ['a', 'ask_before'], ['y'.repeat(60_000), 'ask_before'])
    const before = readFileSync(join(app.root, 'config/permission.yaml'), 'utf8')
    expect(await set(app, ['b', 'ask_before'], ['c', 'maybe'])).toMatchObject({
      status: 422,
      text: expect.stringContaining('tool_permissions[1].permission: unknown variant `maybe`, expected one of `always_allow`, `ask_before`, `never_allow`') as string,
    })
    expect((await set(app, ['a', 'never_allow'], ['\u0001'.repeat(345_000), 'ask_before'])).status).toBe(500)
    expect(readFileSync(join(app.root, 'config/permission.yaml'), 'utf8')).toBe(before)
  })

  it('is 500 if the file cannot be read', async () => {
    const app = new GooseApp()
    writeFileSync(join(app.root, 'config/permission.yaml'), 'a: \xff', 'latin1')
    expect(await set(app, ['a', 'ask_before'])).toMatchObject({ status: 500, text: '' })
    expect(app.logs).toMatchObject([{ fields: { err: { message: 'permissions not stored' } } }])
  })
})

describe('GET /config/slash_commands (GA 10.13)', () => {
  const compact = { command: 'compact', help: 'Compact the current conversation to save tokens', command_type: 'Builtin' }

  async function commands(text: string, environment: Record<string, string> = {}): Promise<unknown> {
    const app = new GooseApp({ environment })
    writeFileSync(join(app.root, 'config/config.yaml'), text)
    return (JSON.parse((await app.get('/config/slash_commands')).text) as { commands: unknown }).commands
  }

  it('shows the commands of recipes as they are stored', async () => {
    const text = 'slash_commands: [{command: /Tea, recipe_path: ""}, 5, null, [], {command: a}, {command: 5, recipe_path: a}, {recipe_path: b, command: compact, more: 1}]\n'
    expect(await commands(text)).toEqual([
      { command: '/Tea', help: '', command_type: 'Recipe' }, { command: 'compact', help: 'b', command_type: 'Recipe' }, compact,
    ])
  })

  it.each(['{}', 'slash_commands:', 'slash_commands: x', 'slash_commands: {command: a, recipe_path: b}'])('shows none for the settings %j', async (text) => {
    expect(await commands(text)).toEqual([compact])
  })

  it('shows those of the environment, even if it is null', async () => {
    const text = 'slash_commands: [{command: f, recipe_path: p}]\n'
    expect(await commands(text, { SLASH_COMMANDS: '[{"command":"e","recipe_path":"p"}]' })).toEqual([{ command: 'e', help: 'p', command_type: 'Recipe' }, compact])
    expect(await commands(text, { SLASH_COMMANDS: 'null' })).toEqual([compact])
  })
})
