import { join } from 'node:path'
import { isObject } from '../../wire/json/is-object.ts'
import { TimeSlices } from '../../wire/json/time-slices.ts'
import { entriesIn, isDirectory } from '../../settings/directories.ts'
import { readRegularFile } from '../../settings/regular-file.ts'
import { parseYaml } from '../../wire/yaml/yaml.ts'
import { trimmed } from '../../text/white-space.ts'
import { compareBytes } from '../../text/compare-bytes.ts'

/** Instructions for one kind of work, from a file SKILL.md (X30). */
export interface Skill {
  name: string
  description: string
  text: string
  /** The directory of its file, which may contain other files. */
  directory: string
}

export const skillFile = 'SKILL.md'

const maxDirectories = 1000
const maxFileBytes = 1 << 20

/**
 * The skills below these directories, by name. If two have the same name, the one in the later directory counts. Reads in time
 * slices.
 */
export async function readSkills(places: readonly string[]): Promise<Map<string, Skill>> {
  const slices = new TimeSlices()
  const skills = new Map<string, Skill>()
  for (const directory of places.flatMap(directoriesIn)) {
    const skill = readSkill(directory)
    if (skill !== undefined) skills.set(skill.name, skill)
    await slices.yieldIfDue()
  }
  return skills
}

/** Sorted by the bytes of their names. */
function directoriesIn(place: string): string[] {
  return entriesIn(place) // most of these directories do not exist
    .sort((a, b) => compareBytes(a.name, b.name))
    .filter((entry) => entry.isDirectory() || (entry.isSymbolicLink() && isDirectory(join(place, entry.name))))
    .slice(0, maxDirectories)
    .map(({ name }) => join(place, name))
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined if the directory contains no skill. */
function readSkill(directory: string): Skill | undefined {
  try {
    return parseSkill(decoder.decode(readRegularFile(join(directory, skillFile), maxFileBytes)), directory)
  } catch {
    return undefined // no file, not UTF-8, or not YAML
  }
}

/** Reads the YAML between two lines `---`, and the text after them. Throws if the YAML is invalid. */
function parseSkill(file: string, directory: string): Skill | undefined {
  const [begin] = /^---\r?(?=\n)/.exec(file) ?? []
  if (begin === undefined) return undefined
  const rest = file.slice(begin.length)
  const end = /\n---\r?(?:\n|$)/.exec(rest)
  if (end === null) return undefined
  const head = parseYaml(rest.slice(0, end.index + 1))
  if (!isObject(head) || !isTelling(head.name) || !isTelling(head.description)) return undefined
  return { name: head.name, description: head.description, text: trimmed(rest.slice(end.index + end[0].length)), directory }
}

function isTelling(value: unknown): value is string {
  return typeof value === 'string' && trimmed(value) !== ''
}
