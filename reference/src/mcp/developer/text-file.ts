import { randomUUID } from 'node:crypto'
import { chmod, chown, lstat, open, readFile, readlink, realpath, rename, rm, stat } from 'node:fs/promises'
import type { Stats } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { failedCall } from './call-error.ts'

const maxFileBytes = 16 * 1024 * 1024
const maxLinks = 40
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The status of a path; undefined if it does not exist or is not accessible. */
export async function statusOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined)
}

export function notThere(named: string): Error {
  return failedCall(`The path '${named}' does not exist or is not accessible.`)
}

/** Reads a text file. Rejects with a RpcError, which calls the file `named` (X17). */
export async function readText(path: string, named: string): Promise<string> {
  const status = await statusOf(path)
  if (status?.isFile() !== true) throw notThere(named)
  try {
    if (status.size > maxFileBytes) throw new Error('the file is too large')
    return decoder.decode(await readFile(path))
  } catch (cause) {
    throw failedCall(`Failed to read file: ${named}`, cause)
  }
}

/**
 * Writes a temporary file next to the target and renames it, so no reader sees a partial file. Links are followed; mode and owner
 * stay. Rejects with a RpcError, which calls the file `named` (X17).
 */
export async function writeText(path: string, text: string, named: string): Promise<void> {
  try {
    const target = await targetOf(path)
    await replace(target, text, await statusOf(target))
  } catch (cause) {
    throw failedCall(`Failed to write file: ${named}`, cause)
  }
}

/** Removes a file. Rejects with a RpcError if it exists and cannot be removed. */
export async function removeFile(path: string, named: string): Promise<void> {
  await rm(path, { force: true }).catch((cause: unknown) => {
    throw failedCall(`Failed to write file: ${named}`, cause)
  })
}

async function replace(path: string, text: string, before: Stats | undefined): Promise<void> {
  const beside = join(dirname(path), `.${randomUUID()}.tmp`)
  const file = await open(beside, 'wx', before === undefined ? 0o666 : 0o600)
  try {
    try {
      await file.writeFile(text)
    } finally {
      await file.close()
    }
    if (before !== undefined) {
      const own = await stat(beside)
      if (own.uid !== before.uid || own.gid !== before.gid) await chown(beside, before.uid, before.gid)
      await chmod(beside, before.mode & 0o7777)
    }
    await rename(beside, path)
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
}

/** The target of a path after links are resolved, even if it does not exist. */
export async function targetOf(path: string, links = 0): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (links >= maxLinks) throw error
    const status = await lstat(path).catch(() => undefined)
    if (status?.isSymbolicLink() === true) return targetOf(resolve(dirname(path), await readlink(path)), links + 1)
    return join(await realpath(dirname(path)), basename(path))
  }
}
