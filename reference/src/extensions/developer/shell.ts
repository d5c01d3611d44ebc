import { spawn } from 'node:child_process'
import { constants } from 'node:os'

/** Bytes of output that are told (X16). */
const maxOutputBytes = 1024 * 1024
/** How long output is waited for that others still hold open. */
const lingerMs = 1000

export interface ShellResult {
  text: string
  failed: boolean
}

/** Runs a command in bash. The signal ends it, and all that it has started. */
export function runShell(command: string, signal: AbortSignal): Promise<ShellResult> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', command], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const output = new Output()
    const killGroup = (): void => {
      if (child.pid === undefined) return
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {
        // Nobody is left in the group.
      }
    }
    let status = 0
    let linger: NodeJS.Timeout | undefined
    const finish = (): void => {
      clearTimeout(linger)
      signal.removeEventListener('abort', killGroup)
      killGroup()
      child.stdout.destroy()
      child.stderr.destroy()
      resolve({ text: output.text(status), failed: status !== 0 })
    }
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output.add(chunk)
      })
    }
    signal.addEventListener('abort', killGroup, { once: true })
    child.once('error', reject)
    child.once('exit', (code, name) => {
      status = code ?? 128 + (name === null ? 0 : constants.signals[name])
      // In a process that had no time, timers come before the output that is there already.
      linger = setTimeout(() => setImmediate(finish), lingerMs)
    })
    child.once('close', finish)
    if (signal.aborted) killGroup()
  })
}

/** What a command has written, as far as it is told. */
class Output {
  readonly #chunks: Buffer[] = []
  #size = 0

  add(chunk: Buffer): void {
    const room = Math.max(maxOutputBytes - this.#size, 0)
    this.#size += chunk.length
    if (room > 0) this.#chunks.push(chunk.subarray(0, room))
  }

  text(status: number): string {
    const told = Buffer.concat(this.#chunks).toString()
    const cut = this.#size > maxOutputBytes ? `${told}\n[The output was cut at ${maxOutputBytes} bytes.]` : told
    if (status === 0) return cut === '' ? '[No output]' : cut
    const lineBreak = cut === '' || cut.endsWith('\n') ? '' : '\n'
    return `${cut}${lineBreak}[Exit status: ${status}]`
  }
}
