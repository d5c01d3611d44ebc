import { readFileSync, readdirSync, statSync } from 'node:fs'
import { arch, release, type } from 'node:os'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import type { Handler } from 'hono'
import { BareStatusError } from '../http/goose-errors.ts'
import { bytes } from '../http/respond.ts'
import { prettyJson } from '../json/stringify.ts'
import { isMissing } from '../settings/config-store.ts'
import { modelLogs } from '../settings/paths.ts'
import type { Paths } from '../settings/paths.ts'
import type { SessionStore } from '../store/session-store.ts'

/** The version of goose that this server behaves like. */
const version = '1.16.0'
const maxLogs = 10
/** Bytes of all entries together (G18). */
const maxSize = 256 * 1024 * 1024

export interface DiagnosticsParts {
  store: SessionStore
  paths: Paths
}

/** `GET /diagnostics/{session_id}` (GA 5.2): an archive, made in memory. Whatever is in the way is a 500. */
export function diagnostics({ store, paths }: DiagnosticsParts): Handler<object, '/:session_id'> {
  return (c) => {
    const id = c.req.param('session_id')
    const archive = collect(id, store, paths)
    return bytes(200, 'application/zip', archive, { 'Content-Disposition': `attachment; filename="diagnostics_${id}.zip"` })
  }
}

function collect(id: string, store: SessionStore, paths: Paths): Uint8Array<ArrayBuffer> {
  try {
    const session = store.load(id)
    if (session === undefined) throw new Error('there is no such session')
    const entries = [
      ...newestLogs(modelLogs(paths)),
      { name: 'session.json', content: Buffer.from(prettyJson(session)) },
      ...fileIfThere('config.yaml', paths.config),
      { name: 'system.txt', content: Buffer.from(systemText(new Date())) },
      ...fileIfThere('schedule.json', paths.data),
      ...fileIfThere('schedules.json', paths.data),
      ...scheduledRecipes(join(paths.data, 'scheduled_recipes')),
    ]
    if (entries.reduce((sum, { content }) => sum + content.length, 0) > maxSize) throw new Error('there is too much')
    return zipSync(Object.fromEntries(entries.map(({ name, content }) => [name, content])))
  } catch (cause) {
    throw new BareStatusError(500, 'diagnostics not collected', { cause })
  }
}

interface ArchiveEntry {
  name: string
  content: Uint8Array
}

function newestLogs(directory: string): ArchiveEntry[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
    .map(({ name }) => ({ name, at: statSync(join(directory, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at || (a.name < b.name ? -1 : 1))
    .slice(0, maxLogs)
    .map(({ name }) => ({ name: `logs/${name}`, content: readFileSync(join(directory, name)) }))
}

function fileIfThere(name: string, directory: string): ArchiveEntry[] {
  try {
    return [{ name, content: readFileSync(join(directory, name)) }]
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function scheduledRecipes(directory: string): ArchiveEntry[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => ({ name: `scheduled_recipes/${name}`, content: readFileSync(join(directory, name)) }))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function systemText(now: Date): string {
  return [
    `App Version: ${version}`,
    `OS: ${type()}`,
    `OS Version: ${release()}`,
    `Architecture: ${arch()}`,
    `Timestamp: ${now.toISOString()}`,
  ].map((line) => `${line}\n`).join('')
}
