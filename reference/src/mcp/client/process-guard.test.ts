import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const guard = fileURLToPath(new URL('./process-guard.ts', import.meta.url))

/** Starts two groups that ignore signals, guards both, releases the second, and waits to be killed. */
const script = `
import { spawn } from 'node:child_process'
import { guardGroup, releaseGroup } from ${JSON.stringify(guard)}
const groups = [1, 2].map(() => spawn('bash', ['-c', "trap '' TERM HUP; echo; sleep 600 & wait"], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] }))
for (const { pid } of groups) guardGroup(pid)
releaseGroup(groups[1].pid)
await Promise.all(groups.map(({ stdout }) => new Promise((resolve) => stdout.once('data', resolve))))
console.log(groups.map(({ pid }) => pid).join(' '))
setInterval(() => undefined, 1000)
`

/** Whether a process runs, and is not a zombie. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s*[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20))
}

describe('the guard of processes (S50)', () => {
  it('ends their groups when this process is killed, and no others', async () => {
    const owner = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const line = await new Promise<Buffer>((resolve) => owner.stdout.once('data', resolve))
    const [left = 0, other = 0] = line.toString().trim().split(' ').map(Number)
    expect([isRunning(left), isRunning(other)]).toEqual([true, true])
    owner.kill('SIGKILL')
    await until(() => !isRunning(left))
    expect(isRunning(other)).toBe(true)
    process.kill(-other, 'SIGKILL')
  })
})
