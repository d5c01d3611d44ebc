import { describe, expect, it } from 'vitest'
import { GooseApp } from '../../testing/goose-app.ts'

const path = '/client-tools/server-tools'

describe('GET /client-tools/server-tools (CT 14.1, S76)', () => {
  it('lists the tools of the server in the order of /agent/tools, without those of clients', async () => {
    const test = new GooseApp()
    await test.register('c', ['a'])
    const id = await test.start({ clientID: 'c' })
    const { status, headers, text } = await test.get(`${path}?sessionID=${id}`)
    expect([status, headers.get('Access-Control-Allow-Origin')]).toEqual([200, '*'])
    const tools = JSON.parse(text) as { id: string; description: string; parameters: object }[]
    expect(tools[0]).toMatchObject({ id: 'dynamic_task__create_task', parameters: { type: 'object' } })
    expect(Object.keys(tools[0] ?? {})).toEqual(['id', 'description', 'parameters'])
    const listed = JSON.parse((await test.get(`/agent/tools?session_id=${id}`)).text) as { name: string }[]
    expect(tools.map((tool) => tool.id)).toEqual(listed.map(({ name }) => name).filter((name) => !name.startsWith('client_')))
  })

  it('needs the key, after the checks of path, method and directory', async () => {
    const test = new GooseApp()
    const id = await test.start()
    const asked = async (query: string, method = 'GET'): Promise<string> => {
      const { status, text } = await test.fetch(`${path}${query}`, { method, headers: { 'X-Secret-Key': 'wrong' } })
      return `${status} ${text}`.slice(0, 20)
    }
    expect(await asked(`?sessionID=${id}`)).toBe('401 ')
    expect(await asked('?directory=a&directory=b')).toMatch(/^400 \{/)
    expect(await asked('', 'POST')).toBe('405 ')
  })

  it.each(['', '?sessionID=', '?sessionID=20200101_1'])('knows no session in %j', async (query) => {
    const test = new GooseApp()
    expect(await test.get(path + query)).toMatchObject({ status: 404, text: '{"error":"Unknown session"}' })
  })
})
