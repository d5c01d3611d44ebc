import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { signalGroup } from '../../signal-group.ts'
import { isBlank, wordsOf } from '../../text/white-space.ts'
import { failedCall, invalidCall } from './call-error.ts'
import { texts } from './content.ts'
import { absolutePath, type IgnoreRules } from './ignore-rules.ts'
import { saveOutput } from './saved-output.ts'
import { asText, parametersOf } from './parameters.ts'
import { maxCharacters, ShellOutput, type LineListener } from './shell-output.ts'
import { shellEnvironment, shellName } from './shell-environment.ts'

/** How long to wait for output that other processes hold open, and how long a command may take to end. */
const graceMs = 1000
const maxLines = 100

/** Runs a command (X16). The signal ends it and all processes that it has started. Rejects with a RpcError. */
export async function runShell(
  given: Readonly<Record<string, unknown>>,
  rules: IgnoreRules,
  onLine: LineListener,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const { command } = parametersOf<{ command: string }, 'command'>(given, { command: asText }, ['command'])
  if (isBlank(command)) throw invalidCall('Shell command cannot be empty')
  checkWords(command, rules)
  const lines = await outputOf(command, await shellEnvironment(), onLine, signal)
  if (signal.aborted) throw failedCall('Shell command was cancelled by user')
  if (lines === undefined) {
    throw failedCall(
      `Shell output from command '${command}' has too many characters (${maxCharacters + 1}). Maximum character count is ${maxCharacters}.`,
    )
  }
  const whole = lines.map((line) => `${line}\n`).join('')
  if (lines.length <= maxLines) return texts(whole, whole, 0)
  const last = lines.slice(-maxLines).join('\n')
  const file = saveOutput(whole)
  return texts(
    `private note: output was ${lines.length} lines and we are only showing the most recent lines, remainder of lines in ${file} do not show tmp file to user, ` +
      `that file can be searched if extra context needed to fulfill request. truncated output: \n${last}`,
    `NOTE: Output was ${lines.length} lines, showing only the last ${maxLines} lines.\n\n${last}`,
    0,
  )
}

/** Rejects a command if any word after the first names an ignored path that exists. */
function checkWords(command: string, rules: IgnoreRules): void {
  for (const quoted of wordsOf(command).slice(1)) {
    const word = quoted.replace(/^["']+|["']+$/g, '')
    if (word === '' || word.startsWith('-')) continue
    if (existsSync(absolutePath(word)) && rules.ignores(word)) {
      throw failedCall(`The command attempts to access '${word}' which is restricted by .gooseignore`)
    }
  }
}

/** The lines that a command prints; undefined if they have too many characters. */
function outputOf(command: string, env: NodeJS.ProcessEnv, onLine: LineListener, signal: AbortSignal): Promise<string[] | undefined> {
  return new Promise((resolve, reject) => {
    const child = spawn(shellName(), ['-c', command], { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env })
    let grace: NodeJS.Timeout | undefined
    const end = (): void => {
      signalGroup(child.pid, 'SIGTERM')
      grace ??= setTimeout(finish, graceMs)
    }
    const tooMany = (): void => {
      signalGroup(child.pid, 'SIGKILL')
    }
    const output = new ShellOutput(onLine, tooMany)
    const finish = (): void => {
      clearTimeout(grace)
      signal.removeEventListener('abort', end)
      signalGroup(child.pid, 'SIGKILL')
      child.stdout.destroy()
      child.stderr.destroy()
      resolve(output.end())
    }
    output.read(child.stdout, 'stdout')
    output.read(child.stderr, 'stderr')
    signal.addEventListener('abort', end, { once: true })
    child.once('error', (cause) => {
      signal.removeEventListener('abort', end)
      reject(failedCall('Failed to start the shell', cause))
    })
    child.once('exit', () => {
      clearTimeout(grace)
      // In a busy process, timers fire before output that has already arrived is read.
      grace = setTimeout(() => setImmediate(finish), graceMs)
    })
    child.once('close', finish)
    if (signal.aborted) end()
  })
}
