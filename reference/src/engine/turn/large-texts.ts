import { createHash, randomUUID } from 'node:crypto'
import { lstat, mkdir, mkdtemp, readdir, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Result } from '../../domain/message/result.ts'
import type { ToolContent } from '../../domain/message/tool-content.ts'
import type { Settings } from '../../settings/settings.ts'
import type { SessionHandle } from '../../store/session-handle.ts'

const maxCharacters = 200_000
const keptMs = 7 * 24 * 60 * 60 * 1000
const directoryName = 'goose_mcp_responses'

/** Stores tool texts that are too large for a model in files (GA 7.8, M33). */
export class LargeTexts {
  readonly #settings: Settings
  /** A directory of this server alone, used if the usual one belongs to another user. */
  #other: string | undefined

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** The result, with large texts moved into files of the session. */
  async moved(result: Result<ToolContent[]>, session: SessionHandle): Promise<Result<ToolContent[]>> {
    if (result.status === 'error') return result
    return { status: 'success', value: await Promise.all(result.value.map((part) => this.#shortened(part, session))) }
  }

  /** Removes the files of a session. Never rejects; files that cannot be removed stay. */
  async remove(session: SessionHandle): Promise<void> {
    const mark = `_${this.#markOf(session)}_`
    for (const directory of [this.#usual, ...(this.#other === undefined ? [] : [this.#other])]) {
      if (await isOurs(directory)) await removeFiles(directory, (name) => name.includes(mark))
    }
    if (this.#other !== undefined) await rmdir(this.#other).then(() => (this.#other = undefined), () => undefined) // it may not be empty
  }

  async #shortened(part: ToolContent, session: SessionHandle): Promise<ToolContent> {
    if (part.type !== 'text' || !isLarge(part.text)) return part
    const directory = await this.#directory()
    await removeFiles(directory, async (_, path) => (await lstat(path)).mtimeMs < Date.now() - keptMs)
    const moment = new Date().toISOString().replace(/\W/g, '')
    const path = join(directory, `mcp_response_${moment}_${this.#markOf(session)}_${randomUUID().slice(0, 8)}.txt`)
    await writeFile(path, part.text, { mode: 0o600, flag: 'wx' })
    return { ...part, text: `The text of this tool was larger than ${maxCharacters} characters. It is in the file ${path}.` }
  }

  get #temporary(): string {
    return this.#settings.variable('TMPDIR') || tmpdir()
  }

  get #usual(): string {
    return join(this.#temporary, directoryName)
  }

  async #directory(): Promise<string> {
    await mkdir(this.#usual, { mode: 0o700 }).catch(() => undefined) // the path may already exist, as a directory or as anything else
    if (await isOurs(this.#usual)) return this.#usual
    if (this.#other === undefined || !(await isOurs(this.#other))) this.#other = await mkdtemp(`${this.#usual}-`)
    return this.#other
  }

  /** The part of a file name that identifies a session. Other sessions and servers may use the same id, so it is unique. */
  #markOf(session: SessionHandle): string {
    const whose = [this.#settings.paths.data, session.id, session.latest()?.created_at]
    return createHash('sha256').update(JSON.stringify(whose)).digest('hex').slice(0, 16)
  }
}

/** Whether a path is a directory of this user that no other user can access. */
async function isOurs(path: string): Promise<boolean> {
  try {
    const found = await lstat(path)
    return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o777) === 0o700
  } catch {
    return false
  }
}

/** Removes the files that match. Never rejects; files that cannot be removed stay. */
async function removeFiles(directory: string, isLike: (name: string, path: string) => boolean | Promise<boolean>): Promise<void> {
  const names = await readdir(directory).catch(() => [])
  for (const name of names.filter((one) => /^mcp_response_.*\.txt$/.test(one))) {
    const path = join(directory, name)
    try {
      if (await isLike(name, path)) await rm(path)
    } catch {
      // The entry is already gone, or is not a file.
    }
  }
}

function isLarge(text: string): boolean {
  // A character has one or two UTF-16 units, so most texts need no exact count.
  if (text.length <= maxCharacters) return false
  return text.length > 2 * maxCharacters || Array.from(text).length > maxCharacters
}
