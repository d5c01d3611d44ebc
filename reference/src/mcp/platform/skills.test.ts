import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { rootPaths } from '../../settings/paths.ts'
import { Settings } from '../../settings/settings.ts'
import { SessionStore } from '../../store/session-store.ts'
import { silentListener } from '../../testing/silent-listener.ts'
import { temporaryRoot } from '../../testing/temporary-root.ts'
import { recordingLogger } from '../../testing/test-app.ts'
import { PlatformConnection } from './platform-connection.ts'
import { skills } from './skills.ts'

/** The skills of a session, and a function that writes files into its directories. */
async function rig(): Promise<{ connection: PlatformConnection; root: string; write: (path: string, text: string) => void; load: (name: unknown) => Promise<string> }> {
  const root = temporaryRoot()
  const paths = rootPaths(root)
  const { logger } = recordingLogger()
  const store = new SessionStore(paths.data, logger)
  await store.open()
  const { id } = await store.create({ working_dir: join(root, 'work'), name: 'n', session_type: 'user' })
  const environment = { HOME: join(root, 'home') }
  const connection = new PlatformConnection(skills(store.handle(id), { settings: new Settings(paths, environment), environment }), logger)
  return {
    connection,
    root,
    write: (path, text) => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    },
    load: async (name) => {
      const result = await connection.call('loadSkill', { name }, silentListener, new AbortController().signal)
      const item = result?.status === 'success' ? result.value[0] : undefined
      return item?.type === 'text' ? item.text : JSON.stringify(result)
    },
  }
}

function skill(name: string, description: string, text = ''): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n${text}`
}

describe('skills (X30, X31)',  () => {
  it('are listed and loaded, with their other files', async () => {
    const { connection, root, write, load } = await rig()
    expect([await connection.instructions, await connection.tools()]).toEqual(['', []])
    write('config/skills/tea/SKILL.md', skill('brew', '"How to \\n brew  tea"', '\n# Tea\n\nBoil.\n\n'))
    write('config/skills/tea/notes.txt', '')
    write('config/skills/tea/more/x', '')
    write('config/skills/tea/more/deeper/x', '')
    write('config/skills/tea/Zoo', '')
    write('config/skills/b/SKILL.md', skill('Apples', 'x'))
    expect(await connection.instructions).toBe(
      'These skills are there. Load one with the tool skills__loadSkill when it helps:\n- Apples: x\n- brew: How to brew tea',
    )
    expect((await connection.tools()).map(({ name }) => name)).toEqual(['loadSkill'])
    expect(await load('brew')).toBe(`# Skill: brew\n\n# Tea\n\nBoil.\n\n## Supporting Files\n\nSkill directory: ${root}/config/skills/tea\n\n- Zoo\n- more/x\n- notes.txt\n`)
    write('config/skills/c/SKILL.md', skill('empty', 'x'))
    expect(await load('empty')).toBe('# Skill: empty\n\n\n\n')
    write('config/skills/c/notes', '')
    expect(await load('empty')).toBe(`# Skill: empty\n\n\n\n## Supporting Files\n\nSkill directory: ${root}/config/skills/c\n\n- notes\n`)
    expect(await load('Brew')).toBe("Error: Skill 'Brew' not found")
    expect(await load(undefined)).toBe('Error: Missing required parameter: name')
    expect(await load(['brew'])).toBe('Error: Invalid argument: name')
  })

  it('are taken from the last of four places', async () => {
    const { write, load } = await rig()
    const places = ['home/.claude/skills', 'config/skills', 'work/.claude/skills', 'work/.goose/skills']
    for (const place of places) {
      write(`${place}/s/SKILL.md`, skill('s', 'x', place))
      expect(await load('s')).toBe(`# Skill: s\n\n${place}\n\n`)
    }
  })

  it('may have no text (X31)', async () => {
    const { root, write, load } = await rig()
    write('config/skills/s/SKILL.md', skill('s', 'x', ' \n'))
    expect(await load('s')).toBe('# Skill: s\n\n\n\n')
    write('config/skills/s/notes.txt', '')
    expect(await load('s')).toBe(`# Skill: s\n\n\n\n## Supporting Files\n\nSkill directory: ${root}/config/skills/s\n\n- notes.txt\n`)
  })

  it('may be behind a link, and have line ends of two characters', async () => {
    const { root, write, load } = await rig()
    write('elsewhere/SKILL.md', '---\r\nname: "zip"\r\ndescription: x\r\nother: [1]\r\n---\r\n\r\nZip it.\r\n')
    mkdirSync(join(root, 'config/skills'), { recursive: true })
    symlinkSync(join(root, 'elsewhere'), join(root, 'config/skills/link'))
    symlinkSync(join(root, 'config/skills/itself'), join(root, 'config/skills/itself'))
    symlinkSync(join(root, 'nowhere'), join(root, 'config/skills/nowhere'))
    expect(await load('zip')).toBe('# Skill: zip\n\nZip it.\n\n')
  })

  it.each([
    ['no front matter', 'name: s\ndescription: x\n'],
    ['front matter without an end', '---\nname: s\ndescription: x\n'],
    ['no YAML', '---\nname: [\n---\n'],
    ['no mapping', '---\n- s\n---\n'],
    ['nothing between the lines', '---\n---\n'],
    ['no name', '---\ndescription: x\n---\n'],
    ['a name that is no text', skill('5', 'x')],
    ['a blank description', skill('s', '" "')],
    ['a byte order mark', `\u{feff}${skill('s', 'x')}`],
    ['more than 1 MiB', skill('s', 'x', 'x'.repeat(1 << 20))],
  ])('are left out with %s', async (_, text) => {
    const { connection, write } = await rig()
    write('config/skills/s/SKILL.md', text)
    write('config/skills/t/README.md', skill('t', 'x'))
    write('config/skills/SKILL.md', skill('u', 'x'))
    write('config/skills/v/deeper/SKILL.md', skill('v', 'x'))
    write('config/skills/w/SKILL.md/file', skill('w', 'x'))
    expect(await connection.instructions).toBe('')
  })

  it('are read without blocking other work', async () => {
    const { connection, write } = await rig()
    for (let i = 0; i < 500; i++) write(`config/skills/d${i}/SKILL.md`, skill(`s${i}`, `"${'x'.repeat(500)}"`))
    let turns = 0
    const counting = setInterval(() => turns++, 1)
    await connection.instructions
    clearInterval(counting)
    expect(turns).toBeGreaterThan(1)
  })

  it('are those of the first 1000 directories of a place', async () => {
    const { connection, root, write } = await rig()
    for (let i = 0; i < 1000; i++) mkdirSync(join(root, 'config/skills', `d${String(i).padStart(4, '0')}`), { recursive: true })
    write('config/skills/e/SKILL.md', skill('beyond', 'x'))
    write('config/skills/d0999/SKILL.md', skill('last', 'x'))
    write('config/skills/a-file', '')
    expect(await connection.instructions).toMatch(/- last: x$/)
  })
})
