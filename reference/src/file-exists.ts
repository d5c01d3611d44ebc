import { statSync } from 'node:fs'
import { isMissing } from './error-code.ts'

/** Whether anything has this name, except a link to a path that does not exist (G45). */
export function fileExists(path: string): boolean {
  try {
    statSync(path)
    return true
  } catch (error) {
    return !isMissing(error)
  }
}
