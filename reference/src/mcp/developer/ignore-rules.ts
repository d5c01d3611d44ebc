import { readFileSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { isDirectory } from '../../settings/directories.ts'
import { failedCall } from './call-error.ts'

const defaults = ['**/.env', '**/.env.*', '**/secrets.*']
const maxFileBytes = 1 << 20
const decoder = new TextDecoder('utf-8', { fatal: true })

/** The absolute path that an argument means: `~` is the home directory, and relative paths start at the current directory. */
export function absolutePath(path: string): string {
  const home = process.env.HOME ?? homedir()
  return resolve(path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path)
}

/** The files that the model must not access (X42). */
export class IgnoreRules {
  readonly #directory: string
  readonly #rules: Ignore

  /** Reads the rules of a directory once. Later changes of the file do not count. */
  constructor(directory: string) {
    this.#directory = directory
    this.#rules = ignore({ ignorecase: false }).add(patternsIn(join(directory, '.gooseignore')))
  }

  /** Whether a path is ignored, or the file to which its links lead. */
  ignores(path: string): boolean {
    const absolute = absolutePath(path)
    return [absolute, realPath(absolute)].some((one) => this.#matches(one))
  }

  /** Throws a RpcError if the path is ignored. `named` is the model's name for it. */
  check(path: string, named = path): void {
    if (this.ignores(path)) throw failedCall(`Access to '${named}' is restricted by .gooseignore`)
  }

  /** Matches a path with the rules. A path outside the directory is relative to the root. */
  #matches(path: string): boolean {
    const inside = path === this.#directory || path.startsWith(this.#directory === sep ? sep : this.#directory + sep)
    const counted = inside ? relative(this.#directory, path) : path.slice(1)
    return counted !== '' && this.#rules.ignores(isDirectory(path) ? `${counted}/` : counted)
  }
}

function patternsIn(path: string): string[] {
  try {
    if (statSync(path).size > maxFileBytes) return []
  } catch {
    return defaults // there is no such file
  }
  try {
    return decoder.decode(readFileSync(path)).split(/\r?\n/)
  } catch {
    return [] // not a regular file, or not UTF-8
  }
}

/** The path with links resolved, as far as it exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realPath(parent), basename(path))
  }
}
