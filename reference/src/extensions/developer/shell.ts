import { spawn } from 'node:child_process'

/** Bytes of output that are kept; a command that writes more is ended. */
const maxOutputBytes = 16 * 1024 * 1024

export interface ShellResult {
  /** What the command has written, to both outputs, in the order in which it came. */
  output: string
  /** Why it ended, if not with status 0. */
  failure: string | null
}

/** Runs a command in a shell. The signal ends it, and all that it has started. */
export function runShell(command: string, signal: AbortSignal): Promise<ShellResult> {
  return new Promise((resolve) => {
    // A group of its own, so that the children of the shell end with it.
    const child = spawn('/bin/sh', ['-c', command], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks: Buffer[] = []
    let size = 0
    let tooMuch = false
    const end = (): void => {
      if (child.pid === undefined) return
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {
        // The group has ended.
      }
    }
    const take = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= maxOutputBytes) {
        chunks.push(chunk)
      } else {
        tooMuch = true
        end()
      }
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    signal.addEventListener('abort', end, { once: true })
    const finish = (failure: string | null): void => {
      signal.removeEventListener('abort', end)
      resolve({ output: Buffer.concat(chunks).toString(), failure })
    }
    child.on('error', (error) => {
      finish(error.message)
    })
    child.on('close', (status, name) => {
      if (tooMuch) finish(`more than ${maxOutputBytes} bytes of output`)
      else if (name !== null) finish(`signal ${name}`)
      else finish(status === 0 ? null : `exit status ${status ?? 'unknown'}`)
    })
    if (signal.aborted) end()
  })
}
