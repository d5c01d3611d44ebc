import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'

/*
 * One small process that outlives this one by a moment, and ends the groups that are left then, however this one has ended
 * (S50). Its standard input says which groups there are, and ends with this process.
 */

const script = `trap '' HUP INT TERM
groups=' '
while read -r change group; do
  case $change in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
[ "$groups" = ' ' ] && exit
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
sleep 0.5
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
`

const guarded = new Set<number>()
let guard: ChildProcessByStdio<Writable, null, null> | undefined

/** Starts the guard before the first group. */
export function prepareGuard(): void {
  if (guard === undefined) startGuard()
}

/** The processes of this group end with this one. */
export function guardGroup(group: number): void {
  prepareGuard()
  guarded.add(group)
  guard?.stdin.write(`+ ${group}\n`)
}

/** The group has ended. */
export function releaseGroup(group: number): void {
  guarded.delete(group)
  guard?.stdin.write(`- ${group}\n`)
}

function startGuard(): void {
  // Without the environment, in which there are secrets.
  const child = spawn('/bin/sh', ['-c', script], { detached: true, cwd: '/', env: { PATH: process.env.PATH }, stdio: ['pipe', 'ignore', 'ignore'] })
  guard = child
  const gone = (): void => {
    if (guard === child) guard = undefined // the next group gets another one
  }
  child.once('error', gone)
  child.once('exit', gone)
  child.stdin.on('error', gone)
  child.unref()
  if (child.stdin instanceof Socket) child.stdin.unref()
  for (const group of guarded) child.stdin.write(`+ ${group}\n`)
}
