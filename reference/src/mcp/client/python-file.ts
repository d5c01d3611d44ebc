import { randomUUID } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../../error-code.ts'
import { entriesIn } from '../../settings/directories.ts'
import type { Environment } from '../../settings/paths.ts'
import { ExtensionError } from './connection.ts'

/** A file next to the code that identifies the server that made the directory. Directories without it are left alone. */
const ownerFile = 'reference-server'

/** Python code in its own file, in its own directory (X22). */
interface PythonFile {
  path: string
  /** Never fails; files that cannot be removed stay. */
  remove: () => void
}

/** Writes Python code to a file. Throws an ExtensionError if that fails. */
export function writePythonFile(code: string, { TMPDIR }: Environment): PythonFile {
  const directory = join(temporaryDirectory({ TMPDIR }), `goose-${randomUUID()}`)
  const path = join(directory, 'main.py')
  const remove = (): void => {
    try {
      rmSync(directory, { recursive: true, force: true })
    } catch {
      // There is no permission to remove it any more.
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

/** The command that runs the file. */
export function pythonCommand(path: string, dependencies: readonly string[]): string[] {
  return ['uvx', '--with', 'mcp', ...dependencies.flatMap((dependency) => ['--with', dependency]), 'python', path]
}

/** Removes the directories of killed servers. Never fails; files that cannot be removed stay. */
export function removeLeftPythonFiles(environment: Environment): void {
  const temporary = temporaryDirectory(environment)
  for (const { name } of entriesIn(temporary)) {
    if (!/^goose-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name)) continue
    const directory = join(temporary, name)
    try {
      const found = lstatSync(directory)
      if (!found.isDirectory() || found.uid !== process.getuid?.()) continue
      if (!isRunning(readFileSync(join(directory, ownerFile), 'utf8'))) rmSync(directory, { recursive: true })
    } catch {
      // It belongs to another user or program, or it is gone.
    }
  }
}

function temporaryDirectory({ TMPDIR }: Environment): string {
  return TMPDIR || tmpdir()
}

/** Identifies a process. Earlier processes, and those of other containers, may have the same number. */
function ownerText(pid: number): string {
  return `${pid} ${startOf(pid)} ${pidNamespace()}\n`
}

/** Whether the process runs; true if that is unknown. */
function isRunning(owner: string): boolean {
  const [, pid, namespace] = /^([1-9]\d*) .* (\S*)\n$/.exec(owner) ?? []
  if (namespace !== pidNamespace()) return true
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    return errorCode(error) !== 'ESRCH'
  }
  return ownerText(Number(pid)) === owner
}

/** The start time of a process, in ticks since the system started (proc(5)); empty if the system does not provide it. */
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
