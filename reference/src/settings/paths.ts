import { isAbsolute, join } from 'node:path'
import { errorCode } from '../error-code.ts'
import { makeDirectory, removeLeftFiles } from './private-files.ts'

/** The environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The directories of the server (GA 1.2, 1.3). */
export interface Paths {
  config: string
  data: string
  state: string
}

/** All directories below one root. */
export function rootPaths(root: string): Paths {
  return { config: join(root, 'config'), data: join(root, 'data'), state: join(root, 'state') }
}

/**
 * The directories below `GOOSE_PATH_ROOT`, or else those of the XDG Base Directory Specification. Undefined if no variable says
 * where they are. A variable counts as not set if it is empty, or if it is relative where the specification requires an absolute
 * path (G13).
 */
export function pathsOf(env: Environment): Paths | undefined {
  if (env.GOOSE_PATH_ROOT) return rootPaths(env.GOOSE_PATH_ROOT)
  const config = userDirectory(env, 'XDG_CONFIG_HOME', '.config')
  const data = userDirectory(env, 'XDG_DATA_HOME', '.local', 'share')
  const state = userDirectory(env, 'XDG_STATE_HOME', '.local', 'state')
  if (config === undefined || data === undefined || state === undefined) return undefined
  return { config, data, state }
}

/** The directory of files that may be lost; undefined if no variable says where it is. `GOOSE_PATH_ROOT` plays no part (G69). */
export function cacheDirectory(env: Environment): string | undefined {
  return env.GOOSE_CACHE_DIR || userDirectory(env, 'XDG_CACHE_HOME', '.cache')
}

/** The directory of goose in one of the user's directories. */
function userDirectory(env: Environment, variable: string, ...belowHome: string[]): string | undefined {
  const named = env[variable]
  if (named && isAbsolute(named)) return join(named, 'goose')
  return env.HOME ? join(env.HOME, ...belowHome, 'goose') : undefined
}

/** The directory of the logs of model requests, which diagnostics include. */
export function modelLogs(paths: Paths): string {
  return join(paths.state, 'logs')
}

/** The directory of the server's logs, which has a directory for each day. */
export function serverLogs(paths: Paths): string {
  return join(modelLogs(paths), 'server')
}

/** Creates the directory in `GOOSE_PATH_ROOT`. Throws if it cannot be created, or the path is not a directory (S49). */
export function prepareRoot({ GOOSE_PATH_ROOT: root }: Environment): void {
  if (!root) return
  try {
    makeDirectory(root)
  } catch (error) {
    const why = errorCode(error) ?? 'for an unknown reason'
    throw new Error(`GOOSE_PATH_ROOT: ${root} is no directory and cannot be made one (${why})`, { cause: error })
  }
}

/** Creates the directories that must exist when the server starts (GA 1.5). */
export function prepareDirectories(paths: Paths, now: Date): void {
  const day = now.toISOString().slice(0, 'YYYY-MM-DD'.length)
  for (const path of [paths.config, paths.data, join(serverLogs(paths), day)]) {
    makeDirectory(path)
  }
  removeLeftFiles(paths.config)
}
