import { mkdirSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

/** Variables of the environment. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Where the server keeps what outlives it (GA 1.2, 1.3). */
export interface Paths {
  config: string
  data: string
  state: string
}

/** All below `GOOSE_PATH_ROOT` if that is set and not empty (S34), else where the XDG Base Directory Specification puts them. */
export function pathsOf(env: Environment, home: string): Paths {
  const root = env.GOOSE_PATH_ROOT
  if (root) return { config: join(root, 'config'), data: join(root, 'data'), state: join(root, 'state') }
  const base = (variable: string, ...fallback: string[]): string => {
    const named = env[variable]
    // "All paths set in these environment variables must be absolute": a relative one is ignored.
    return join(named && isAbsolute(named) ? named : join(home, ...fallback), 'goose')
  }
  return {
    config: base('XDG_CONFIG_HOME', '.config'),
    data: base('XDG_DATA_HOME', '.local', 'share'),
    state: base('XDG_STATE_HOME', '.local', 'state'),
  }
}

/** Where the requests to language models are logged, which diagnostics collect. */
export function modelLogs(paths: Paths): string {
  return join(paths.state, 'logs')
}

/** Makes the directories that have to be there when the server starts (GA 1.5). */
export function prepareDirectories(paths: Paths, now: Date): void {
  const day = now.toISOString().slice(0, 'YYYY-MM-DD'.length)
  for (const path of [paths.config, paths.data, join(modelLogs(paths), 'server', day)]) mkdirSync(path, { recursive: true })
}
