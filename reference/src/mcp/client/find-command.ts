import { accessSync, constants, statSync } from 'node:fs'
import { resolve as resolvePath } from 'node:path'

export interface CommandSearch {
  command: string
  /** The directories in which a command without a slash is looked up, in the format of PATH. */
  searchPath: string
  directory: string
}

/** The file of a command (X10): the command itself if it has a slash, else the first executable file in the search path. */
export function findCommand({ command, searchPath, directory }: CommandSearch): string | undefined {
  if (command.includes('/')) return [resolvePath(directory, command)].find(isExecutable)
  if (command === '') return undefined
  return searchPath
    .split(':')
    .filter((one) => one !== '')
    .map((one) => resolvePath(directory, one, command))
    .find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
