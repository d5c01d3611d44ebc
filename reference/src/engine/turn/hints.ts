import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, sep } from 'node:path'
import type { Settings } from '../../settings/settings.ts'
import { trimmed } from '../../text/white-space.ts'

const defaultNames = ['.goosehints', 'AGENTS.md']
const maxFileBytes = 1 << 20
const maxBytes = 4 << 20
const maxLookups = 1000
const maxDepth = 3

/** The hint files of the user, and of the project that contains a directory, as one text (M71). Empty if there are none. */
export function hints(settings: Settings, workingDirectory: string): string {
  const names = namesOf(settings.get('CONTEXT_FILE_NAMES'))
  const reader = new HintReader()
  const { config } = settings.paths
  const global = reader.texts([config], names)
  const directories = isAbsolute(workingDirectory) ? projectDirectories(workingDirectory) : []
  const project = reader.texts(directories, names, directories[0])
  return [block('Global', global), block('Project', project)].filter((text) => text !== '').join('\n\n')
}

function block(whose: string, texts: readonly string[]): string {
  return texts.length === 0 ? '' : [`### ${whose} Hints`, ...texts].join('\n')
}

function namesOf(setting: unknown): string[] {
  const isList = (value: unknown): value is string[] => Array.isArray(value) && value.every((name) => typeof name === 'string')
  const names = isList(setting) ? setting : defaultNames
  return [...new Set(names)].filter((name) => name !== '' && !name.includes('/'))
}

/** The directories from the root of the repository down to this one. Outside a repository, only this one. */
function projectDirectories(directory: string): string[] {
  const found: string[] = []
  for (let at = directory; ; at = dirname(at)) {
    found.unshift(at)
    if (existsSync(join(at, '.git'))) return found
    if (dirname(at) === at) return [directory]
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const included = /(?<![^\t\n\v\f\r ])@([A-Za-z0-9_\-./]+)/g

/** Reads hint files, up to the limits. */
class HintReader {
  #lookups = 0
  #bytes = 0

  /** The texts of files with these names. If `root` is given, only files whose real path is below it. */
  texts(directories: readonly string[], names: readonly string[], root?: string): string[] {
    const paths = directories.flatMap((directory) => names.map((name) => join(directory, name)))
    const texts = paths.map((path) => this.#read(path, root, root ?? dirname(path), []))
    return texts.filter((text) => text !== undefined && text !== '') as string[] // the filter removes undefined
  }

  /** The text of a file with the files that it includes. Undefined if it does not exist, or includes itself. */
  #read(path: string, root: string | undefined, includeRoot: string, around: readonly string[]): string | undefined {
    if (++this.#lookups > maxLookups) return undefined
    const found = this.#find(path, root)
    if (found === undefined || around.includes(found.real)) return undefined
    if (around.length === maxDepth) return trimmed(found.text)
    const inside = [...around, found.real]
    const whole = found.text.replace(included, (all, written: string) => {
      const name = written.replace(/\.$/, '')
      const text = name === '' || isAbsolute(name) ? undefined : this.#read(join(dirname(path), name), includeRoot, includeRoot, inside)
      return text === undefined ? all : `--- Content from ${name} ---\n${text}\n--- End of ${name} ---${written.slice(name.length)}`
    })
    return trimmed(whole)
  }

  #find(path: string, root: string | undefined): { real: string; text: string } | undefined {
    try {
      const real = realpathSync(path)
      if (root !== undefined && !real.startsWith(join(realpathSync(root), sep))) return undefined
      const status = statSync(real)
      if (!status.isFile() || status.size > maxFileBytes || this.#bytes + status.size > maxBytes) return undefined
      const text = decoder.decode(readFileSync(real))
      this.#bytes += status.size
      return { real, text }
    } catch {
      return undefined // the file does not exist, or is not UTF-8
    }
  }
}
