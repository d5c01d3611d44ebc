import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { squeezed } from '../../text/white-space.ts'
import type { Environment } from '../../settings/paths.ts'
import type { Settings } from '../../settings/settings.ts'
import type { SessionHandle } from '../../store/session-handle.ts'
import { ToolError } from './arguments.ts'
import type { McpTool } from '../../domain/extension/config.ts'
import type { PlatformExtension } from './platform-connection.ts'
import { readSkills, skillFile, type Skill } from './skill-files.ts'
import { compareBytes } from '../../text/compare-bytes.ts'

const loadSkill: McpTool = {
  name: 'loadSkill',
  description: 'Loads a skill: what to know for one kind of work.',
  inputSchema: {
    type: 'object',
    properties: { name: { type: 'string', description: 'The name of the skill' } },
    required: ['name'],
  },
}

export interface SkillDeps {
  settings: Settings
  environment: Environment
}

/** Lists skills for the model, and loads them. Their files are read again each time (X30, X31). */
export function skills(session: SessionHandle, deps: SkillDeps): PlatformExtension {
  const all = (): Promise<Map<string, Skill>> => readSkills(placesOf(session, deps))
  return {
    instructions: async () => introduction([...(await all()).values()]),
    tools: [
      {
        tool: loadSkill,
        isOffered: async () => (await all()).size > 0,
        run: async (args) => {
          const name = args.text('name')
          const skill = (await all()).get(name)
          if (skill === undefined) throw new ToolError(`Skill '${name}' not found`)
          return `# Skill: ${name}\n\n${skill.text}\n\n${await filesOf(skill)}`
        },
      },
    ],
  }
}

/** The directories with skills. If two skills have the same name, the one in the later directory counts. */
function placesOf(own: SessionHandle, { settings, environment }: SkillDeps): string[] {
  const session = own.find()
  return [
    ...(environment.HOME ? [join(environment.HOME, '.claude', 'skills')] : []),
    join(settings.paths.config, 'skills'),
    ...(session === undefined ? [] : ['.claude', '.goose'].map((name) => join(session.working_dir, name, 'skills'))),
  ]
}

function introduction(all: readonly Skill[]): string {
  if (all.length === 0) return ''
  const lines = all
    .toSorted((a, b) => compareBytes(a.name, b.name))
    .map(({ name, description }) => `- ${squeezed(name)}: ${squeezed(description)}`)
  return ['These skills are there. Load one with the tool skills__loadSkill when it helps:', ...lines].join('\n')
}

const maxFiles = 1000

/** The other files in the directory of a skill, down to one level below. */
async function filesOf({ directory }: Skill): Promise<string> {
  const { files, directories } = await entriesOf(directory, '')
  const below = await Promise.all(directories.map(async (name) => (await entriesOf(directory, name)).files))
  const others = [...files, ...below.flat()].filter((path) => path !== skillFile)
  if (others.length === 0) return ''
  const sorted = others.sort(compareBytes).slice(0, maxFiles)
  return `## Supporting Files\n\nSkill directory: ${directory}\n\n${sorted.map((path) => `- ${path}\n`).join('')}`
}

/** The paths, relative to `base`, of the entries in one of its directories. A link counts as its target. */
async function entriesOf(base: string, below: string): Promise<{ files: string[]; directories: string[] }> {
  const names = await readdir(join(base, below)).catch(() => []) // it may have been removed meanwhile
  const paths = names.map((name) => join(below, name))
  const statuses = await Promise.all(paths.map((path) => stat(join(base, path)).catch(() => undefined)))
  return {
    files: paths.filter((_, i) => statuses[i]?.isFile() === true),
    directories: paths.filter((_, i) => statuses[i]?.isDirectory() === true),
  }
}
