import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { abortable } from '../../abortable.ts'
import { guardGroup, prepareGuard, releaseGroup } from '../../mcp/client/process-guard.ts'
import { signalGroup } from '../../signal-group.ts'

/** A command that runs before or after the calls of some tools (CT 14.6). */
export interface HookCommand {
  /** A pattern of tool names. */
  match: string
  command: readonly [program: string, ...args: string[]]
  timeoutMs: number
}

/** A hook has not said what it should. The message has nothing of its input or output. */
export class HookFailedError extends Error {
  override readonly name = 'HookFailedError'
}

const maxOutput = 1024 * 1024
/** How long to wait for output that a process outside of the group holds open. */
const graceMs = 1000

type Child = ChildProcessByStdio<Writable, Readable, null>

/**
 * Runs a hook in its own process group, and returns what it has written. Rejects with a HookFailedError, or with the reason of the
 * signal. No process of the group is left then (S87).
 */
export function runHookProcess(
  { command: [program, ...args], timeoutMs }: HookCommand,
  input: string,
  environment: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Buffer> {
  prepareGuard()
  let child: Child
  try {
    child = spawn(program, args, { env: environment, detached: true, stdio: ['pipe', 'pipe', 'inherit'] })
  } catch (cause) {
    return Promise.reject(notStarted(cause)) // for example a zero byte in an argument
  }
  const { pid: group } = child
  if (group !== undefined) guardGroup(group)
  return abortable(signal, (resolve, reject) => {
    const output = new Output(child.stdout, () => {
      reject(new HookFailedError(`its output is longer than ${maxOutput} bytes`))
    })
    let problem: string | undefined
    let isOver = false
    const finish = (): void => {
      if (!isOver) return
      if (problem === undefined) resolve(output.bytes())
      else reject(new HookFailedError(problem))
    }
    // In a busy process, a timer fires before the end of a program that has already ended is seen.
    const timer = setTimeout(() => {
      setImmediate(() => {
        if (!isOver) reject(new HookFailedError(`it has not ended within ${timeoutMs} ms`))
      })
    }, timeoutMs)
    let grace: NodeJS.Timeout | undefined
    child.once('error', (cause) => {
      reject(notStarted(cause))
    })
    child.once('exit', (code, killedBy) => {
      isOver = true
      clearTimeout(timer)
      if (code !== 0) problem = code === null ? `${killedBy} ended it` : `it has ended with status ${code}`
      signalGroup(group, 'SIGKILL') // what is left of it
      if (group !== undefined) releaseGroup(group)
      grace = setTimeout(() => setImmediate(finish), graceMs)
    })
    child.once('close', finish)
    child.stdin.on('error', () => undefined) // it need not read its input
    child.stdin.end(input)
    return () => {
      clearTimeout(timer)
      clearTimeout(grace)
      if (!isOver) signalGroup(group, 'SIGKILL')
      child.stdin.destroy()
      child.stdout.destroy()
    }
  })
}

function notStarted(cause: unknown): HookFailedError {
  return new HookFailedError('it cannot be started', { cause })
}

/** What a hook writes. */
class Output {
  readonly #chunks: Buffer[] = []
  #size = 0

  /** Calls `tooLong` once there is more than a hook may write. */
  constructor(stream: Readable, tooLong: () => void) {
    stream.on('data', (chunk: Buffer) => {
      this.#size += chunk.length
      if (this.#size > maxOutput) tooLong()
      else this.#chunks.push(chunk)
    })
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }
}
