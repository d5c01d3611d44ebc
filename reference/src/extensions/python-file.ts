import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../settings/paths.ts'
import { ExtensionError } from './connection.ts'

/** Python code in a file of its own, in a directory of its own (X22). */
export interface PythonFile {
  path: string
  /** Never fails; what cannot be removed stays. */
  remove: () => void
}

/** Throws an ExtensionError when there is no place for it. */
export function writePythonFile(code: string, { TMPDIR }: Environment): PythonFile {
  const directory = join(TMPDIR || tmpdir(), `goose-${randomUUID()}`)
  const path = join(directory, 'main.py')
  const remove = (): void => {
    try {
      rmSync(directory, { recursive: true, force: true })
    } catch {
      // Somebody has taken away the right to.
    }
  }
  try {
    mkdirSync(directory, { mode: 0o700 })
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
