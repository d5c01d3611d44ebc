import { lstatSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { failedCall, invalidCall } from './call-error.ts'
import { parseDiff, patched, type FileDiff } from './diff.ts'
import type { IgnoreRules } from './ignore-rules.ts'
import { readText, statusOf } from './text-file.ts'

/** The diff of one file, and the file. */
interface FileChange extends FileDiff {
  file: string
}

interface AppliedChange {
  name: string
  file: string
  /** Null for a file that is created. */
  before: string | null
  after: string
}

/**
 * The changes that a diff makes, by file. Names are relative to the path of the call, or to its directory. Rejects with a
 * RpcError.
 */
export async function changesOf(
  diff: string,
  path: string,
  rules: IgnoreRules,
): Promise<{ changes: FileChange[]; added: number; removed: number }> {
  const { files, added, removed } = parseDiff(diff)
  const base = (await statusOf(path))?.isDirectory() === true ? path : dirname(path)
  for (const { name } of files) {
    if (!isAllowed(name, base)) throw invalidCall(`Diff names a path that is not allowed: ${name}`)
  }
  const changes = files.map((file) => ({ ...file, file: resolve(base, file.name) }))
  for (const { file, name } of changes) rules.check(file, name)
  return { changes, added, removed }
}

/** Whether a name leads to a place below the directory, without a symbolic link on its way. */
function isAllowed(name: string, base: string): boolean {
  const parts = name.split('/')
  if (name === '' || isAbsolute(name) || parts.includes('..')) return false
  return parts.every((_, i) => !isLink(join(base, ...parts.slice(0, i + 1))))
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    return false // it does not exist
  }
}

/** The resulting contents of the files. Nothing is written. Rejects with a RpcError. */
export async function applied(changes: readonly FileChange[]): Promise<AppliedChange[]> {
  const byFile = new Map<string, AppliedChange>()
  for (const { file, name, isNew, hunks } of changes) {
    const known = byFile.get(file)
    if (isNew && (known !== undefined || (await statusOf(file)) !== undefined)) throw unfit(name)
    const before = known === undefined ? (isNew ? null : await readText(file, name)) : known.before
    const after = patched(known?.after ?? before ?? '', hunks)
    if (after === undefined) throw unfit(name)
    byFile.set(file, { name, file, before, after })
  }
  return [...byFile.values()]
}

function unfit(name: string): Error {
  return failedCall(`Diff does not fit the file: ${name}`)
}
