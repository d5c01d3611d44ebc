import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import { temporaryRoot } from '../../testing/temporary-root.ts'
import { recordingLogger, type LogEntry } from '../../testing/test-app.ts'
import type { HookCommand } from './hook-process.ts'
import { Hooks, type HookedCall } from './hooks.ts'

const environment = { PATH: process.env.PATH, GOOSE_SERVER__SECRET_KEY: 's3cret', OTHER: 'other' }
const call: HookedCall = { tool: 'client_c_t', input: { b: 1, a: '\n' }, sessionID: 's', callID: 'k', clientID: 'c' }
const never = new AbortController().signal

/** A hook that runs this script for all tools. */
function sh(script: string, more: Partial<HookCommand> = {}): HookCommand {
  return { match: '*', command: ['sh', '-c', script], timeoutMs: 60_000, ...more }
}

function says(said: unknown): string {
  return `printf '%s' '${JSON.stringify(said)}'`
}

function hooks(before: HookCommand[], after: HookCommand[] = []): { hooks: Hooks; logs: LogEntry[] } {
  const { logger, entries } = recordingLogger()
  const made = new Hooks({ before, after }, environment, logger)
  onTestFinished(() => {
    made.stop()
  })
  return { hooks: made, logs: entries }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ')
  } catch {
    return false
  }
}

/** The number in a file, once it is there. */
async function numberIn(file: string): Promise<number> {
  await eventually(() => {
    expect(existsSync(file) && readFileSync(file, 'utf8')).toMatch(/^\d+\n$/)
  })
  return Number(readFileSync(file, 'utf8'))
}

describe('hooks before a call (CT 14.6, S84)', () => {
  it('read one line, and run in their order', async () => {
    const log = join(temporaryRoot(), 'log')
    const first = sh(`cat >> ${log}; ${says({ decision: 'allow', input: { n: 1 } })}`)
    const { hooks: made } = hooks([first, sh('exit 1', { match: 'client_c' }), sh(`cat >> ${log}`, { match: 'client_*_t' })])
    expect(await made.before(call, never)).toEqual({ input: { n: 1 } })
    expect(readFileSync(log, 'utf8')).toBe(
      '{"event":"before","tool":"client_c_t","input":{"b":1,"a":"\\n"},"sessionID":"s","callID":"k","clientID":"c"}\n' +
        '{"event":"before","tool":"client_c_t","input":{"n":1},"sessionID":"s","callID":"k","clientID":"c"}\n',
    )
  })

  it('end with the first that denies, which keeps the input of the others', async () => {
    const { hooks: made, logs } = hooks([sh(says({ decision: 'allow', input: {} })), sh(says({ decision: 'deny', reason: 'no' })), sh('exit 1')])
    expect(await made.before({ ...call, clientID: undefined }, never)).toEqual({ input: {}, refusal: { reason: 'no', isStopping: false } })
    expect(logs).toEqual([])
  })

  it.each<[said: string, reason: string | undefined]>([
    ['', undefined],
    [' \n\t\r', undefined],
    [' {"decision":"allow","x":1} \n', undefined],
    ['{"decision":"allow","reason":"r","output":5}', undefined],
    ['{"decision":"deny","input":{}}', 'Denied by hook'],
    ['{"decision":"deny","reason":""}', 'Denied by hook'],
    ...[
      'allow', '{}', '[]', 'null', '"allow"', '{"decision":"ask"}', '{"decision":null}', '{"decision":"deny","reason":1}', '{"decision":"allow","reason":null}',
      '{"decision":"allow","input":[]}', '{"decision":"allow","input":null}', '{"decision":"allow","input":1.50}', '{"decision":"allow"}{}', '\ufeff{"decision":"allow"}',
      '{"decision":"deny","reason":"\\ud800"}', '{"decision":"allow"',
    ].map((said): [string, string] => [said, 'Hook failed: sh']),
  ])('may say %j', async (said, reason) => {
    const { hooks: made, logs } = hooks([sh(`printf '%s' '${said}'`)])
    expect((await made.before(call, never)).refusal?.reason).toBe(reason)
    expect(logs).toHaveLength(reason === 'Hook failed: sh' ? 1 : 0)
  })

  it.each<[how: string, hook: HookCommand, reason: RegExp]>([
    ['exits with a status', sh(`${says({ decision: 'allow' })}; exit 3`), /^it has ended with status 3$/],
    ['is killed', sh('kill -9 $$'), /^SIGKILL ended it$/],
    ['takes too long', sh('sleep 600', { timeoutMs: 20 }), /^it has not ended within 20 ms$/],
    ['writes too much', sh('head -c 1048577 /dev/zero; sleep 600'), /^its output is longer than 1048576 bytes$/],
    ['is no program', { match: '*', command: ['/nonexistent/hook'], timeoutMs: 1000 }, /^it cannot be started$/],
    ['is a folder', { match: '*', command: ['/'], timeoutMs: 1000 }, /^it cannot be started$/],
    ['has a zero byte', { match: '*', command: ['sh', '\0'], timeoutMs: 1000 }, /^it cannot be started$/],
  ])('that %s denies the call, and the log has the reason', async (_, hook, reason) => {
    const { hooks: made, logs } = hooks([hook])
    const [program] = hook.command
    expect((await made.before(call, never)).refusal?.reason).toBe(`Hook failed: ${program}`)
    expect(logs).toEqual([{ level: 'warn', message: 'hook failed', fields: { program, reason: expect.stringMatching(reason) as string } }])
  })

  it('may write as much as is allowed, and need not read', async () => {
    const { hooks: made } = hooks([sh(`head -c 1048552 /dev/zero | tr '\\0' ' '; ${says({ decision: 'deny' })}`)])
    const large = { ...call, input: { text: 'x'.repeat(1_000_000) } }
    expect((await made.before(large, never)).refusal?.reason).toBe('Denied by hook')
  })
})

describe('a hook as a process (S87)', () => {
  it('has the environment without the secret, and its own process group', async () => {
    const script = `printf '{"decision":"deny","reason":"%s"}' "$(tr '\\0' '\\n' < /proc/$$/environ | grep -c s3cret) $OTHER $(cut -d' ' -f5 /proc/$$/stat) $$"`
    const { hooks: made } = hooks([sh(script)])
    expect((await made.before(call, never)).refusal?.reason).toMatch(/^0 other (\d+) \1$/)
  })

  it('ends with its program, and what is left of its group is killed', async () => {
    const file = join(temporaryRoot(), 'pid')
    const { hooks: made } = hooks([sh(`sleep 600 & echo $! > ${file}; ${says({ decision: 'deny' })}`)])
    expect((await made.before(call, never)).refusal?.reason).toBe('Denied by hook')
    const left = await numberIn(file)
    await eventually(() => {
      expect(isRunning(left)).toBe(false)
    })
  })

  it('does not wait for a process that has left the group and holds its output', async () => {
    const file = join(temporaryRoot(), 'pid')
    const { hooks: made } = hooks([sh(`setsid sh -c 'echo $$ > ${file}; exec sleep 600' & ${says({ decision: 'deny' })}; while ! test -s ${file}; do :; done`)])
    expect((await made.before(call, never)).refusal?.reason).toBe('Denied by hook')
    process.kill(await numberIn(file), 'SIGKILL')
  })

  it.each(['a caller that leaves', 'the stop of the server'])('is killed by %s', async (what) => {
    const file = join(temporaryRoot(), 'pid')
    const { hooks: made, logs } = hooks([sh(`sleep 600 & echo $! > ${file}; wait`)])
    const caller = new AbortController()
    const verdict = made.before(call, caller.signal)
    const inner = await numberIn(file)
    if (what === 'the stop of the server') {
      made.stop()
      expect(await verdict).toEqual({ refusal: { reason: 'Server is shutting down', isStopping: true } })
      expect(await made.after(call, { status: 'success', text: '' }, never)).toBeUndefined()
    } else {
      caller.abort(new Error('gone'))
      await expect(verdict).rejects.toThrow('gone')
    }
    await eventually(() => {
      expect(isRunning(inner)).toBe(false)
    })
    expect(logs).toEqual([])
  })

  it('waits if 32 run, and the wait does not count', async () => {
    const root = temporaryRoot()
    const { hooks: made } = hooks([sh(`read -r line; echo >> ${root}/started; while ! test -e ${root}/go; do sleep 0.01; done`)])
    const calls = Array.from({ length: 34 }, () => made.before(call, never))
    const left = new AbortController()
    const gone = made.before(call, left.signal)
    left.abort(new Error('gone'))
    await expect(gone).rejects.toThrow('gone')
    const started = (): number => (existsSync(`${root}/started`) ? readFileSync(`${root}/started`, 'utf8').length : 0)
    await eventually(() => {
      expect(started()).toBe(32)
    })
    writeFileSync(`${root}/go`, '')
    expect(await Promise.all(calls)).toEqual(calls.map(() => ({})))
    expect(started()).toBe(34)
  })
})

describe('hooks after a call (S86)', () => {
  it('replace its text, one after the other', async () => {
    const log = join(temporaryRoot(), 'log')
    const { hooks: made } = hooks([], [sh(says({ output: 'one' })), sh(`cat > ${log}; ${says({ output: '' })}`)])
    expect(await made.after(call, { status: 'error', text: 'e' }, never)).toBe('')
    expect(readFileSync(log, 'utf8')).toBe(
      '{"event":"after","tool":"client_c_t","input":{"b":1,"a":"\\n"},"sessionID":"s","callID":"k","clientID":"c","result":{"status":"error","error":"one"}}\n',
    )
  })

  it.each([['{}', 0], ['', 0], ['{"decision":"deny"}', 0], ['{"output":1}', 1], ['{"output":null}', 1], ['text', 1]])('change nothing with %j', async (said, failures) => {
    const { hooks: made, logs } = hooks([], [sh(`printf '%s' '${said}'`), sh(`cat | grep -q '"output":"text"' && ${says({ output: 'seen' })}`)])
    expect(await made.after(call, { status: 'success', text: 'text' }, never)).toBe('seen')
    expect(logs).toHaveLength(failures)
  })
})
