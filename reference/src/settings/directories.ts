import { readdirSync, statSync, type Dirent } from 'node:fs'

/** The entries of a directory. Empty if it does not exist or cannot be read. */
export function entriesIn(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    return []
  }
}

/** Whether a path leads to a directory. Links are followed. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false // it does not exist, or is a link to itself
  }
}
