import { spawn } from 'node:child_process'
import { basename, join } from 'node:path'
import { pathsOf } from '../../settings/paths.ts'

const noEditor = "sh -c 'echo Interactive editing is not available here. >&2; exit 1' --"
const loginMs = 5000
const mark = '__PATH__'

/** The user's shell, or else bash. */
export function shellName(): string {
  return process.env.SHELL || 'bash'
}

let loginPath: Promise<string | undefined> | undefined

/** The environment variables of a command (GA 28.2). */
export async function shellEnvironment(): Promise<NodeJS.ProcessEnv> {
  loginPath ??= askForPath()
  const config = pathsOf(process.env)?.config
  return {
    ...process.env,
    GOOSE_TERMINAL: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
    GIT_EDITOR: noEditor,
    GIT_SEQUENCE_EDITOR: noEditor,
    EDITOR: noEditor,
    VISUAL: noEditor,
    PATH: (await loginPath) ?? process.env.PATH,
    ...(basename(shellName()) === 'bash' && config !== undefined && { BASH_ENV: join(config, '.bash_env') }),
  }
}

/** The PATH of a login shell, which may print other text too. Undefined if the shell does not print it. */
function askForPath(): Promise<string | undefined> {
  return new Promise((resolve) => {
    const args = ['-l', '-i', '-c', `printf '\\n%s%s%s\\n' ${mark} "$PATH" ${mark}`]
    // Detached, because an interactive shell would try to take over the terminal.
    const child = spawn(shellName(), args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
    let output = ''
    const end = (path?: string): void => {
      child.kill('SIGKILL')
      child.stdout.destroy()
      resolve(path)
    }
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const [, path, behind] = output.split(mark)
      if (behind !== undefined) end(path || undefined)
    })
    child.once('error', () => {
      end()
    })
    child.once('close', () => {
      end()
    })
    setTimeout(end, loginMs).unref()
  })
}
