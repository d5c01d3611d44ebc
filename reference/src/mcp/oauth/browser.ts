import { spawn } from 'node:child_process'
import type { Environment } from '../../settings/paths.ts'
import { withoutOwnSecrets } from '../../settings/own-secrets.ts'
import { findCommand } from '../client/find-command.ts'

export interface BrowserOptions {
  /** The value of GOOSE_OAUTH_BROWSER. */
  command: string | undefined
  environment: Environment
  /** The working directory of the server. */
  directory: string
  /** Prints a line for the user. */
  print: (line: string) => void
}

const defaults: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/**
 * Opens a page in the user's browser (X53). If that cannot be started, or fails, the URL is printed. The returned function ends the
 * wait for that; the browser belongs to the user, and stays.
 */
export function openPage(url: string, options: BrowserOptions): () => void {
  const { environment, directory, print } = options
  const words = (options.command ?? '').split(/[ \t]+/).filter((word) => word !== '')
  const [command = '', ...args] = words.length > 0 ? words : (defaults[process.platform] ?? ['xdg-open'])
  let isOver = false
  const failed = (): void => {
    if (!isOver) print(url)
    isOver = true
  }
  const file = command === 'none' && words.length === 1 ? undefined : findCommand({ command, searchPath: environment.PATH ?? '', directory })
  if (file === undefined) failed()
  else start(file, { argv0: command, args: [...args, url], env: withoutOwnSecrets(environment), cwd: directory }, failed)
  return () => (isOver = true)
}

interface Start {
  argv0: string
  args: readonly string[]
  env: NodeJS.ProcessEnv
  cwd: string
}

function start(file: string, { args, ...options }: Start, failed: () => void): void {
  try {
    const child = spawn(file, args, { ...options, detached: true, stdio: 'ignore' })
    child.once('error', failed)
    child.once('exit', (status) => {
      if (status !== 0) failed()
    })
    child.unref()
  } catch {
    failed() // for example a URL that is too long
  }
}
