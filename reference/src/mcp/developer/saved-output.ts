import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const kept: string[] = []

/** Writes a long output to a file, which is removed when the process ends. Returns its path. */
export function saveOutput(text: string): string {
  const path = join(tmpdir(), `goose-output-${randomUUID()}`)
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
  if (kept.push(path) === 1) process.once('exit', removeAll)
  return path
}

function removeAll(): void {
  for (const path of kept) rmSync(path, { force: true })
}
