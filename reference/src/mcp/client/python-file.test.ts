import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ChatApp } from '../../testing/chat-app.ts'
import { eventually } from '../../testing/eventually.ts'
import { mcpServer } from '../../testing/programs.ts'
import { temporaryRoot } from '../../testing/temporary-root.ts'
import { chatStream, wantsStream } from '../../testing/upstream.ts'
import { removeLeftPythonFiles, writePythonFile } from './python-file.ts'

const python = { type: 'inline_python', name: 'py', description: null, code: 'print("ü")\n', dependencies: ['a==1', 'b c'] }

/** A chat whose `uvx` is this script, and a function that lists the remaining temporary directories. */
async function chat(script: string): Promise<{ app: ChatApp; id: string; left: () => string[] }> {
  const root = temporaryRoot()
  const [bin, tmp] = [join(root, 'bin'), join(root, 'tmp')]
  mkdirSync(bin)
  mkdirSync(tmp)
  writeFileSync(join(bin, 'uvx'), `#!/bin/bash\n${script}\n`, { mode: 0o755 })
  const app = await ChatApp.open({ PATH: `${bin}:${process.env.PATH ?? ''}`, TMPDIR: tmp }, { directory: '/' })
  onTestFinished(() => app.app.stop())
  const left = (): string[] => readdirSync(tmp).filter((name) => name.startsWith('goose-'))
  return { app, id: await app.chat(), left }
}

async function add(app: ChatApp, id: string, config: object = python): Promise<string> {
  return (await app.call('POST', '/agent/add_extension', { session_id: id, config })).text
}

describe('inline Python (X22)', () => {
  it('is run from a separate file, which is removed with the connection', async () => {
    const facts = 'FILE="${@: -1}" FACTS="${*:1:$#-1}|$(cat "${@: -1}")|$(stat -c %a "${@: -1}" "$(dirname "${@: -1}")" | xargs)|$PWD"'
    const { app, id, left } = await chat(`${facts} exec ${mcpServer.cmd} ${mcpServer.args.join(' ')}`)
    expect(await add(app, id)).toBe('')
    expect(left()).toEqual([expect.stringMatching(/^goose-[0-9a-f-]{36}$/)])
    const calls = [{ id: 'c', name: 'py__env', input: '{"text":"FACTS"}' }]
    app.upstream.answers(chatStream({ calls }), wantsStream).answers(chatStream({ texts: ['ok'] }), wantsStream)
    expect(JSON.stringify(await app.hear(id, 'go'))).toContain(JSON.stringify('--with mcp --with a==1 --with b c python|print("ü")|600 700|/').slice(1, -1))
    await app.call('POST', '/agent/remove_extension', { session_id: id, name: 'py' })
    expect(left()).toEqual([])
  })

  it.each([
    ['ends', 'exit 0', 'Connection closed'],
    ['does not speak', 'echo nonsense; sleep 9', 'Extension does not speak MCP'],
  ])('leaves no file when it %s', async (_, script, reason) => {
    const { app, id, left } = await chat(script)
    expect(await add(app, id)).toBe(`{"message":"Failed to add extension: ${reason}"}`)
    await eventually(() => {
      expect(left()).toEqual([])
    })
  })

  it('needs uvx and a directory for its file, which is checked first', async () => {
    const app = await ChatApp.open({ PATH: '/nonexistent' }, { directory: '/' })
    expect(await add(app, 'x')).toBe('{"message":"Failed to add extension: Command not found: uvx"}')
    const nowhere = await ChatApp.open({ PATH: '/nonexistent', TMPDIR: '/nonexistent' }, { directory: '/' })
    expect(await add(nowhere, 'x')).toBe('{"message":"Failed to add extension: Temporary file cannot be written"}')
  })

  it('leaves a file when its server is killed, which the next server of this kind removes', () => {
    const TMPDIR = temporaryRoot()
    const left = (): string[] => readdirSync(TMPDIR).sort()
    const own = writePythonFile('', { TMPDIR })
    const owner = readFileSync(join(dirname(own.path), 'reference-server'), 'utf8')
    const [, start = '', namespace = ''] = owner.trimEnd().split(' ')
    const killed = spawnSync('true').pid
    const others = {
      running: owner,
      killed: `${killed} ${start} ${namespace}\n`,
      'number-taken-since': `${process.pid} ${Number(start) - 1} ${namespace}\n`,
      'other-container': `${killed} ${start} pid:[1]\n`,
      'other-kind': undefined,
      nonsense: 'x',
    }
    const names = Object.entries(others).map(([what, text]) => {
      const name = `goose-${randomUUID()}`
      mkdirSync(join(TMPDIR, name))
      if (text !== undefined) writeFileSync(join(TMPDIR, name, 'reference-server'), text)
      return [what, name] as const
    })
    mkdirSync(join(TMPDIR, 'goose-mine'))
    symlinkSync(join(TMPDIR, names[1]?.[1] ?? ''), join(TMPDIR, `goose-${randomUUID()}`))
    const before = left()
    removeLeftPythonFiles({ TMPDIR })
    const gone = names.filter(([what]) => what === 'killed' || what === 'number-taken-since').map(([, name]) => name)
    expect(left()).toEqual(before.filter((name) => !gone.includes(name)))
    removeLeftPythonFiles({ TMPDIR: '/nonexistent' })
  })
})
