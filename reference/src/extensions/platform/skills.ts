import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { squeezed } from '../../text/white-space.ts'
import type { Environment } from '../../settings/paths.ts'
import type { Settings } from '../../settings/settings.ts'
import type { OwnSession } from '../../store/own-session.ts'
import { ToolFault } from '../arguments.ts'
import type { McpTool } from '../config.ts'
import { listedNames } from '../listed-names.ts'
import type { PlatformExtension } from './platform-connection.ts'
import { readSkills, skillFile } from './skill-files.ts'
import type { Skill } from './skill-files.ts'

const loadSkill: McpTool = {
  name: 'loadSkill',
  description: 'Loads a skill: what to know for one kind of work.',
  inputSchema: {
    type: 'object',
    properties: { name: { type: 'string', description: 'The name of the skill' } },
    required: ['name'],
  },
}

export interface SkillParts {
  settings: Settings
  environment: Environment
}

/** Tells the model of skills, and loads them. They are read anew each time (X30, X31). */
export function skills(session: OwnSession, parts: SkillParts): PlatformExtension {
  const all = (): Map<string, Skill> => readSkills(placesOf(session, parts))
  return {
    instructions: () => introduction([...all().values()]),
    tools: [
      {
        tool: loadSkill,
        isOffered: () => all().size > 0,
        run: async (args) => {
          const name = args.text('name')
          const skill = all().get(name)
          if (skill === undefined) throw new ToolFault(`Skill not found: ${name}`)
          return [`# Skill ${name}`, skill.text, await filesOf(skill)].filter((block) => block !== '').join('\n\n')
        },
      },
    ],
  }
}

/** Where skills are looked for; of two with one name the later counts. */
function placesOf(own: OwnSession, { settings, environment }: SkillParts): string[] {
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
    .toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    .map(({ name, description }) => `- ${squeezed(name)}: ${squeezed(description)}`)
  return ['These skills are there. Load one with the tool skills__loadSkill when it helps:', ...lines].join('\n')
}

/** What else is in the directory of a skill; empty if there is nothing. */
async function filesOf({ directory }: Skill): Promise<string> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []) // it may be gone meanwhile
  const others = entries.filter(({ name }) => name !== skillFile)
  return others.length === 0 ? '' : `Files in ${directory}:\n${listedNames(others)}`
}
