import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { Socket } from 'node:net'
import type { Writable } from 'node:stream'

/*
 * A small process that briefly outlives this one, and then kills the remaining process groups, however this process ended (S50).
 * It learns the groups from its standard input, which closes when this process ends.
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

/** Guards a group: its processes end with this one. */
export function guardGroup(group: number): void {
  prepareGuard()
  guarded.add(group)
  guard?.stdin.write(`+ ${group}\n`)
}

/** Stops guarding a group that has ended. */
export function releaseGroup(group: number): void {
  guarded.delete(group)
  guard?.stdin.write(`- ${group}\n`)
}

function startGuard(): void {
  // Without the environment, because it contains secrets.
  const child = spawn('/bin/sh', ['-c', script], { detached: true, cwd: '/', env: { PATH: process.env.PATH }, stdio: ['pipe', 'ignore', 'ignore'] })
  guard = child
  const gone = (): void => {
    if (guard === child) guard = undefined // the next group starts a new guard
  }
  child.once('error', gone)
  child.once('exit', gone)
  child.stdin.on('error', gone)
  child.unref()
  if (child.stdin instanceof Socket) child.stdin.unref()
  for (const group of guarded) child.stdin.write(`+ ${group}\n`)
}
