import { randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../settings/paths.ts'
import { ExtensionError } from './connection.ts'

/** A file beside the code that names the server that made the directory. Directories without it are left alone. */
const ownerFile = 'reference-server'

/** Python code in a file of its own, in a directory of its own (X22). */
interface PythonFile {
  path: string
  /** Never fails; what cannot be removed stays. */
  remove: () => void
}

/** Throws an ExtensionError when there is no place for it. */
export function writePythonFile(code: string, { TMPDIR }: Environment): PythonFile {
  const directory = join(temporaryDirectory({ TMPDIR }), `goose-${randomUUID()}`)
  const path = join(directory, 'main.py')
  const remove = (): void => {
    try {
      rmSync(directory, { recursive: true, force: true })
    } catch {
      // The permission is gone.
    }
  }
  try {
    mkdirSync(directory, { mode: 0o700 })
    writeFileSync(join(directory, ownerFile), ownerText(process.pid), { mode: 0o600 })
    writeFileSync(path, code, { mode: 0o600 })
  } catch (cause) {
    remove()
    throw new ExtensionError('Temporary file cannot be written', { cause })
  }
  return { path, remove }
}

/** The command that runs it. */
export function pythonCommand(path: string, dependencies: readonly string[]): string[] {
  return ['uvx', '--with', 'mcp', ...dependencies.flatMap((dependency) => ['--with', dependency]), 'python', path]
}

/** Removes the directories of killed servers. Never fails; what cannot be removed stays. */
export function removeLeftPythonFiles(environment: Environment): void {
  const temporary = temporaryDirectory(environment)
  for (const name of namesIn(temporary).filter((one) => /^goose-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(one))) {
    const directory = join(temporary, name)
    try {
      const found = lstatSync(directory)
      if (!found.isDirectory() || found.uid !== process.getuid?.()) continue
      if (!isRunning(readFileSync(join(directory, ownerFile), 'utf8'))) rmSync(directory, { recursive: true })
    } catch {
      // It belongs to something else, or is gone.
    }
  }
}

function temporaryDirectory({ TMPDIR }: Environment): string {
  return TMPDIR || tmpdir()
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

/** Identifies a process among those with the same number: earlier ones, and those of other containers. */
function ownerText(pid: number): string {
  return `${pid} ${startOf(pid)} ${pidNamespace()}\n`
}

/** Whether the process runs; true when that is unknown. */
function isRunning(owner: string): boolean {
  const [, pid, namespace] = /^([1-9]\d*) .* (\S*)\n$/.exec(owner) ?? []
  if (namespace !== pidNamespace()) return true
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
  return ownerText(Number(pid)) === owner
}

/** When a process was started, in ticks since the system was (proc(5)); empty where the system does not say. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
